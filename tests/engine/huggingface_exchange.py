"""Models of Hugging Face with random weights as folders, and folders of deft loaded by Hugging Face.

huggingface_exchange.py save FOLDER CASE...   random models, each FOLDER/CASE, and FOLDER/CASE.safetensors: inputs, outputs
huggingface_exchange.py load FOLDER IN ...    whether FOLDER's model has the outputs of the file IN for its inputs
huggingface_exchange.py tokenize FOLDER TEXT IDS   whether FOLDER's tokenizer makes those ids of the text, as in 3,17,4
huggingface_exchange.py llmc VERSION FILE OUT   the same as save, of a file of llm.c
A CASE is KIND, KIND:DTYPE or KIND:DTYPE:SHARD, as in gpt2:bfloat16 and bert:float32:20KB.
exit code 77: no transformers here.
"""
import json
import os
import struct
import sys

try:
    import numpy as np
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import (AutoTokenizer, BertConfig, BertForMaskedLM, BertForPreTraining, BertForSequenceClassification,
                              GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, ViTConfig,
                              ViTForImageClassification)
except ImportError as error:
    print(error)
    sys.exit(77)

V, T = 37, 11
SMALL = dict(hidden_size=24, num_hidden_layers=3, num_attention_heads=3, intermediate_size=40, initializer_range=0.2)
MODELS = {
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(n_embd=24, n_layer=3, n_head=3, n_positions=T, vocab_size=V,
                                               layer_norm_epsilon=1e-6, initializer_range=0.2)),
    "gpt2_other": lambda: GPT2LMHeadModel(GPT2Config(n_embd=24, n_layer=2, n_head=2, n_positions=T, vocab_size=V, n_inner=56,
                                                     activation_function="gelu", initializer_range=0.2,
                                                     tie_word_embeddings=False)),
    "bert": lambda: BertForPreTraining(BertConfig(**SMALL, vocab_size=V, max_position_embeddings=T)),
    "bert_masked": lambda: BertForMaskedLM(BertConfig(**SMALL, vocab_size=V, max_position_embeddings=T,
                                                      hidden_act="gelu_new", type_vocab_size=3)),
    "bert_classes": lambda: BertForSequenceClassification(BertConfig(**SMALL, vocab_size=V, max_position_embeddings=T,
                                                                     num_labels=5)),
    "vit": lambda: ViTForImageClassification(ViTConfig(**SMALL, image_size=(12, 8), patch_size=4, num_channels=3,
                                                       num_labels=5)),
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**SMALL, vocab_size=V, max_position_embeddings=T)),
}
CLASSES = {"GPT2LMHeadModel": GPT2LMHeadModel, "BertForPreTraining": BertForPreTraining, "BertForMaskedLM": BertForMaskedLM,
           "BertForSequenceClassification": BertForSequenceClassification,
           "ViTForImageClassification": ViTForImageClassification, "LlamaForCausalLM": LlamaForCausalLM}


def move_everything(model):
    """Biases and norms as a trained model has them, no longer 0 and 1."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.1 * torch.randn_like(parameter))


def inputs_of(model):
    config = model.config
    if config.model_type == "vit":
        height, width = config.image_size
        return {"image": torch.randn(2, height, width, config.num_channels)}
    inputs = {"token": torch.randint(config.vocab_size, (2, T), dtype=torch.int32)}
    if config.model_type == "bert":
        inputs["segment"] = torch.randint(config.type_vocab_size, (2, T), dtype=torch.int32)
    return inputs


def outputs_of(model, inputs):
    model = model.float().eval()
    with torch.no_grad():
        if "image" in inputs:
            return {"class_logits": model(pixel_values=inputs["image"].permute(0, 3, 1, 2)).logits}
        arguments = {"input_ids": inputs["token"].long()}
        if "segment" in inputs:
            arguments["token_type_ids"] = inputs["segment"].long()
        out = model(**arguments)
        if isinstance(model, BertForPreTraining):
            return {"logits": out.prediction_logits, "class_logits": out.seq_relationship_logits}
        return {"class_logits" if isinstance(model, BertForSequenceClassification) else "logits": out.logits}


def save(folder, case):
    words = case.split(":")
    kind, dtype, shard = words + ["float32", None][len(words) - 1:]
    model = MODELS[kind]()
    move_everything(model)
    with torch.no_grad():  # weights are rounded, and nothing that is computed is: buffers stay as they are
        for parameter in model.parameters():
            parameter.copy_(parameter.to(getattr(torch, dtype)).float())
    inputs = inputs_of(model)
    save_file({k: v.contiguous() for k, v in {**inputs, **outputs_of(model, inputs)}.items()},
              os.path.join(folder, case + ".safetensors"))
    model.to(getattr(torch, dtype)).save_pretrained(os.path.join(folder, case), safe_serialization=True,
                                                    **({"max_shard_size": shard} if shard else {}))


def load(folder, file):
    with open(os.path.join(folder, "config.json")) as config:
        kind = json.load(config)["architectures"][0]
    model, info = CLASSES[kind].from_pretrained(folder, use_safetensors=True, output_loading_info=True)
    # Buffers of this version, which are no weights, and what is tied.
    buffers = (".attn.bias", ".attn.masked_bias", "position_ids", "rotary_emb.inv_freq")
    tied = () if model.config.tie_word_embeddings is False else ("lm_head.weight", "cls.predictions.decoder.weight")
    missing = [k for k in info["missing_keys"] if not k.endswith(buffers) and k not in tied
               and k != "cls.predictions.decoder.bias"]
    assert not missing and not info["unexpected_keys"] and not info["mismatched_keys"], (missing, info)
    ours = load_file(file)
    theirs = outputs_of(model, ours)
    assert theirs, "nothing to compare"
    for name, tensor in theirs.items():
        error = ((ours[name].double() - tensor.double()).square().sum() / tensor.double().square().sum()).item()
        print(name, "normalised squared error", error)
        assert error < 1e-10, (name, error)


def tokenize(folder, text, ids):
    theirs = AutoTokenizer.from_pretrained(folder)(text, add_special_tokens=False)["input_ids"]
    assert theirs == [int(i) for i in ids.split(",")], theirs


def llmc(version, file, out):
    """A file of llm.c, with a padded vocabulary (github.com/karpathy/llm.c, its layout)."""
    model = GPT2LMHeadModel(GPT2Config(n_embd=24, n_layer=3, n_head=3, n_positions=T, vocab_size=V, initializer_range=0.2))
    move_everything(model)
    if version == 5:
        model = model.bfloat16().float()
    weights = {k.removeprefix("transformer."): v for k, v in model.state_dict().items()}
    layers, width, padded = 3, 24, 128
    table = torch.zeros(padded, width)
    table[:V] = weights["wte.weight"]
    tensors = [table, weights["wpe.weight"]]
    for name, turned in (("ln_1.weight", 0), ("ln_1.bias", 0), ("attn.c_attn.weight", 1), ("attn.c_attn.bias", 0),
                         ("attn.c_proj.weight", 1), ("attn.c_proj.bias", 0), ("ln_2.weight", 0), ("ln_2.bias", 0),
                         ("mlp.c_fc.weight", 1), ("mlp.c_fc.bias", 0), ("mlp.c_proj.weight", 1), ("mlp.c_proj.bias", 0)):
        for layer in range(layers):
            tensor = weights[f"h.{layer}.{name}"]
            tensors.append(tensor.t() if turned else tensor)
    tensors += [weights["ln_f.weight"], weights["ln_f.bias"]]
    header = [20240326, version, T, V, layers, 3, width, padded]
    with open(file, "wb") as f:
        f.write(struct.pack("<256i", *header, *[0] * (256 - len(header))))
        for tensor in tensors:
            tensor = tensor.contiguous()
            f.write((tensor.bfloat16().view(torch.int16) if version == 5 else tensor).numpy().tobytes())
    inputs = inputs_of(model)
    save_file({**inputs, **outputs_of(model, inputs)}, out)


command, *words = sys.argv[1:]
if command == "save":
    for case in words[1:]:
        save(words[0], case)
elif command == "load":
    for folder, file in zip(words[::2], words[1::2]):
        load(folder, file)
elif command == "tokenize":
    tokenize(*words)
else:
    llmc(int(words[0]), words[1], words[2])
