"""Checks debug-state files of deft against Hugging Face's models of the same weights, in float64: logits, loss, gradients.

usage: huggingface_models.py bert|llama|vit FILE...; exit code 0: equal within rounding, 1: not, 77: no transformers here.
"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import torch
    from transformers import (BertConfig, BertForPreTraining, LlamaConfig, LlamaForCausalLM, ViTConfig,
                              ViTForImageClassification)
    from pytorch_parity import load
except ImportError:
    sys.exit(77)


def bert_names(layers, width):
    """Of each of Hugging Face's weights: deft's, and which of its rows."""
    all_rows = slice(None)
    names = {"bert.embeddings.word_embeddings.weight": ("wte.weight", all_rows),
             "bert.embeddings.position_embeddings.weight": ("wpe.weight", all_rows),
             "bert.embeddings.token_type_embeddings.weight": ("wse.weight", all_rows),
             "cls.predictions.bias": ("lm_head.bias", all_rows)}
    pairs = {"bert.embeddings.LayerNorm": "ln_e", "bert.pooler.dense": "pooler", "cls.seq_relationship": "class_head",
             "cls.predictions.transform.dense": "lm_head.dense", "cls.predictions.transform.LayerNorm": "lm_head.ln"}
    for i in range(layers):
        theirs, ours = f"bert.encoder.layer.{i}.", f"h.{i}."
        for part, name in enumerate(("query", "key", "value")):
            for kind in ("weight", "bias"):
                names[f"{theirs}attention.self.{name}.{kind}"] = (
                    f"{ours}attn.c_attn.{kind}", slice(part * width, (part + 1) * width))
        pairs |= {theirs + "attention.output.dense": ours + "attn.c_proj",
                  theirs + "intermediate.dense": ours + "mlp.c_fc", theirs + "output.dense": ours + "mlp.c_proj", theirs + "attention.output.LayerNorm": ours + "ln_1",
                  theirs + "output.LayerNorm": ours + "ln_2"}
    for theirs, ours in pairs.items():
        for kind in ("weight", "bias"):
            names[f"{theirs}.{kind}"] = (f"{ours}.{kind}", all_rows)
    return names


def llama_names(layers, width, hidden):
    all_rows = slice(None)
    names = {"model.embed_tokens.weight": ("wte.weight", all_rows), "model.norm.weight": ("ln_f.weight", all_rows),
             "lm_head.weight": ("lm_head.weight", all_rows)}
    for i in range(layers):
        theirs, ours = f"model.layers.{i}.", f"h.{i}."
        for part, name in enumerate("qkv"):
            names[f"{theirs}self_attn.{name}_proj.weight"] = (
                ours + "attn.c_attn.weight", slice(part * width, (part + 1) * width))
        names |= {theirs + "self_attn.o_proj.weight": (ours + "attn.c_proj.weight", all_rows),
                  theirs + "mlp.gate_proj.weight": (ours + "mlp.c_fc.weight", slice(0, hidden)),
                  theirs + "mlp.up_proj.weight": (ours + "mlp.c_fc.weight", slice(hidden, 2 * hidden)),
                  theirs + "mlp.down_proj.weight": (ours + "mlp.c_proj.weight", all_rows),
                  theirs + "input_layernorm.weight": (ours + "ln_1.weight", all_rows),
                  theirs + "post_attention_layernorm.weight": (ours + "ln_2.weight", all_rows)}
    return names


def vit_names(layers, width):
    all_rows = slice(None)
    names = {"vit.embeddings.cls_token": ("class_token.weight", all_rows),
             "vit.embeddings.position_embeddings": ("wpe.weight", all_rows)}
    pairs = {"vit.embeddings.patch_embeddings.projection": "patch", "vit.layernorm": "ln_f", "classifier": "class_head"}
    for i in range(layers):
        theirs, ours = f"vit.encoder.layer.{i}.", f"h.{i}."
        for part, name in enumerate(("query", "key", "value")):
            for kind in ("weight", "bias"):
                names[f"{theirs}attention.attention.{name}.{kind}"] = (
                    f"{ours}attn.c_attn.{kind}", slice(part * width, (part + 1) * width))
        pairs |= {theirs + "attention.output.dense": ours + "attn.c_proj",
                  theirs + "intermediate.dense": ours + "mlp.c_fc", theirs + "output.dense": ours + "mlp.c_proj",
                  theirs + "layernorm_before": ours + "ln_1", theirs + "layernorm_after": ours + "ln_2"}
    for theirs, ours in pairs.items():
        for kind in ("weight", "bias"):
            names[f"{theirs}.{kind}"] = (f"{ours}.{kind}", all_rows)
    return names


def lay_out_as_vit(tensors, patches):
    """The class token and the positions get an axis of samples; patches (C, P P channels) become a convolution's."""
    size, channels = patches["size"], patches["channels"]
    for kind in ("weights.", "grad."):
        tensors[kind + "class_token.weight"] = tensors[kind + "class_token.weight"][None]
        tensors[kind + "wpe.weight"] = tensors[kind + "wpe.weight"][None]
        of_patches = tensors[kind + "patch.weight"]
        tensors[kind + "patch.weight"] = of_patches.view(-1, size, size, channels).permute(0, 3, 1, 2)


def failures_of(kind, path):
    tensors, meta = load(path)
    parts, layers = json.loads(meta["model"]), int(meta["layers"])
    width, eps = parts["width"], parts["norm"]["eps"]
    shape = dict(hidden_size=width, num_hidden_layers=layers, num_attention_heads=parts["heads"],
                 intermediate_size=parts["hidden"])
    if kind == "vit":
        patches = parts["patches"]
        lay_out_as_vit(tensors, patches)
        model = ViTForImageClassification(ViTConfig(
            **shape, layer_norm_eps=eps, hidden_dropout_prob=0, attention_probs_dropout_prob=0,
            image_size=(patches["height"], patches["width"]), patch_size=patches["size"],
            num_channels=patches["channels"], num_labels=parts["classes"])).double()
        names = vit_names(layers, width)
    else:
        token, target = tensors["batch.token"].long(), tensors["batch.target"].long()
        target[target < 0] = -100
        shape |= dict(vocab_size=parts["vocab"], max_position_embeddings=parts["max_seqlen"])
    if kind == "bert":
        model = BertForPreTraining(BertConfig(**shape, layer_norm_eps=eps, hidden_dropout_prob=0,
                                              attention_probs_dropout_prob=0)).double()
        names = bert_names(layers, width)
    if kind == "llama":
        model = LlamaForCausalLM(LlamaConfig(**shape, pad_token_id=None, rms_norm_eps=eps)).double()
        names = llama_names(layers, width, parts["hidden"])
    parameters = dict(model.named_parameters())
    failures = [f"{path}: {name} is only on one side" for name in parameters.keys() ^ names.keys()]
    with torch.no_grad():
        for theirs, (ours, rows) in names.items():
            parameters[theirs].copy_(tensors["weights." + ours][rows])

    def check(name, ours, theirs, bound):
        error = ((ours.double() - theirs).square().sum() / theirs.square().sum().clamp_min(1e-30)).item()
        if not error <= bound:
            failures.append(f"{path}: {name}: normalised squared error {error:.3g} above {bound:.3g}")

    if kind == "bert":
        real = torch.arange(token.shape[1]) < tensors["batch.length"].long().unsqueeze(-1)
        order = tensors["batch.class_target"].long()
        order[order < 0] = -100
        out = model(input_ids=token, token_type_ids=tensors["batch.segment"].long(), attention_mask=real.double(),
                    labels=target, next_sentence_label=order)
        loss, logits = out.loss, out.prediction_logits
        check("class_logits", tensors["class_logits"], out.seq_relationship_logits, 1e-10)
        check("logits", tensors["logits"][real], logits.detach()[real], 1e-10)
    elif kind == "llama":
        logits = model(input_ids=token).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
        check("logits", tensors["logits"], logits.detach(), 1e-10)
    else:
        out = model(pixel_values=tensors["batch.image"].double().permute(0, 3, 1, 2),
                    labels=tensors["batch.class_target"].long())
        loss = out.loss
        check("class_logits", tensors["class_logits"], out.logits.detach(), 1e-10)
    loss.backward()
    check("mean_loss", torch.tensor([float(meta["mean_loss"])]), loss.detach().view(1), 1e-11)
    # Whole tensors of ours: the gradient of a key's bias is nothing but rounding, for softmax takes no shift.
    gradients = {ours: torch.zeros_like(tensors["grad." + ours], dtype=torch.float64) for ours, _ in names.values()}
    for theirs, (ours, rows) in names.items():
        gradients[ours][rows] = parameters[theirs].grad
    for ours, gradient in gradients.items():
        check("grad." + ours, tensors["grad." + ours], gradient, 1e-9)
    return failures


failures = [failure for path in sys.argv[2:] for failure in failures_of(sys.argv[1], path)]
print("\n".join(failures) or "equal within rounding")
sys.exit(1 if failures else 0)
