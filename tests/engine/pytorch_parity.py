"""Checks debug-state files of deft against PyTorch in float64: logits, losses, gradients and the optimizer's update.

usage: pytorch_parity.py FILE...; exit code 0: equal within rounding, 1: not, 77: no PyTorch here.
"""
import json
import struct
import sys

try:
    import numpy as np
    import torch
    from torch.nn import functional as F
except ImportError:
    sys.exit(77)


def load(path):
    with open(path, "rb") as file:
        content = file.read()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    kinds = {"F32": np.float32, "F64": np.float64, "I32": np.int32, "I64": np.int64}
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            data = np.frombuffer(content[8 + size + begin:8 + size + end], kinds[entry["dtype"]])
            tensors[name] = torch.from_numpy(data.reshape(entry["shape"]).copy())
    return tensors, header["__metadata__"]


def failures_of(path):
    tensors, meta = load(path)
    layers, heads = int(meta["layers"]), int(meta["heads"])
    weights = {name[8:]: t.double().requires_grad_() for name, t in tensors.items() if name.startswith("weights.")}
    token, target = tensors["batch.token"].long(), tensors["batch.target"].long()
    kept = tensors.get("kept.index")

    def block(x, w, prefix):
        B, T, C = x.shape
        linear = lambda y, name: F.linear(y, w[prefix + name + ".weight"], w[prefix + name + ".bias"])
        norm = lambda y, name: F.layer_norm(y, (C,), w[prefix + name + ".weight"], w[prefix + name + ".bias"], 1e-5)
        q, k, v = linear(norm(x, "ln_1"), "attn.c_attn").view(B, T, 3, heads, C // heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / (C // heads) ** 0.5
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), float("-inf"))
        x = x + linear((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C), "attn.c_proj")
        return x + linear(F.gelu(linear(norm(x, "ln_2"), "mlp.c_fc"), approximate="tanh"), "mlp.c_proj")

    x = weights["wte.weight"][token] + weights["wpe.weight"][:token.shape[1]]
    sets = [int(number) for number in meta["kept_set_of_layer"].split(",")] if kept is not None else [-1] * layers
    for layer in range(layers):
        if sets[layer] >= 0:
            index = kept[sets[layer]].long().unsqueeze(-1).expand(-1, -1, x.shape[-1])
            x = x.scatter(1, index, block(x.gather(1, index), weights, f"h.{layer}."))
        else:
            x = block(x, weights, f"h.{layer}.")
    x = F.layer_norm(x, x.shape[-1:], weights["ln_f.weight"], weights["ln_f.bias"], 1e-5)
    logits = x @ weights["wte.weight"].t()
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none").view(target.shape)
    loss.mean().backward()

    failures = []

    def check(name, ours, theirs, bound):
        error = ((ours.double() - theirs).square().sum() / theirs.square().sum().clamp_min(1e-30)).item()
        if not error <= bound:
            failures.append(f"{name}: normalised squared error {error:.3g} above {bound:.3g}")

    check("logits", tensors["logits"], logits.detach(), 1e-10)
    check("loss", tensors["loss"], loss.detach(), 1e-10)
    for name, weight in weights.items():
        check("grad." + name, tensors["grad." + name], weight.grad, 1e-9)
    norm = torch.sqrt(sum(w.grad.square().sum() for w in weights.values()))
    check("grad_norm", tensors["grad_norm"], norm.view(1), 1e-9)

    # From deft's own float gradients: AdamW divides by their square root, which would magnify rounding.
    lr, beta1, beta2, eps, momentum, decay = (
        float(meta[k]) for k in ("lr", "beta1", "beta2", "eps", "momentum", "weight_decay"))
    step = int(meta["step"])
    limit = float(meta["max_grad_norm"])
    clip = min(1.0, limit / tensors["grad_norm"].item()) if limit > 0 else 1.0
    for name, weight in weights.items():
        own = weight.detach()
        parameter = torch.nn.Parameter(own.clone())
        own_decay = decay if own.dim() > 1 else 0.0
        if meta["optimizer"] == "sgd":
            optimizer = torch.optim.SGD([parameter], lr=lr, momentum=momentum, weight_decay=own_decay)
            optimizer.state[parameter] = {"momentum_buffer": tensors["momentum." + name].double()}
        else:
            optimizer = torch.optim.AdamW([parameter], lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=own_decay)
            optimizer.state[parameter] = {"step": torch.tensor(float(step - 1)),
                                          "exp_avg": tensors["adam_m." + name].double(),
                                          "exp_avg_sq": tensors["adam_v." + name].double()}
        parameter.grad = tensors["grad." + name].double() * clip
        optimizer.step()
        change = parameter.detach() - own
        check("updated." + name, tensors["updated." + name].double() - own, change, 1e-5)
    return [f"{path}: {failure}" for failure in failures]


failures = [failure for path in sys.argv[1:] for failure in failures_of(path)]
print("\n".join(failures) or f"equal within rounding (torch {torch.__version__})")
sys.exit(1 if failures else 0)
