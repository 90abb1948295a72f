"""Checks debug-state files of deft against PyTorch in float64: logits, losses, gradients and the optimizer's update.

usage: pytorch_parity.py FILE...; exit code 0: equal within rounding, 1: not, 77: no PyTorch here.
"""
import json
import math
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


ACTIVATIONS = {"gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "gelu_erf": F.gelu}


def rotated(x, position, theta):
    """x (B, heads, T, d), position (B, T): the pair (i, i + d/2) turned by position theta^(-2i/d)."""
    half = x.shape[-1] // 2
    frequency = theta ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = (position.double().unsqueeze(-1) * frequency).unsqueeze(1)  # (B, 1, T, d/2)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * angle.cos() - second * angle.sin(), second * angle.cos() + first * angle.sin()], -1)


class Model:
    """What the metadata says that the model is; weights by name, in float64."""

    def __init__(self, meta, weights):
        self.parts, self.layers, self.w = json.loads(meta["model"]), int(meta["layers"]), weights
        self.expert_settings = json.loads(meta["experts"])  # one entry a layer, null of a dense one
        self.beyond = 0  # how far the probability of a choice lies from that of the best one
        self.auxiliary = 0  # the losses of all gates, each times its weight

    def norm(self, x, name, spec):
        weight, C = self.w[name + ".weight"], x.shape[-1]
        if spec["kind"] == "layer":
            return F.layer_norm(x, (C,), weight, self.w[name + ".bias"], spec["eps"])
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + spec["eps"]) * weight

    def linear(self, x, name):
        return F.linear(x, self.w[name + ".weight"], self.w.get(name + ".bias"))

    def attention(self, x, name, position, length):
        B, T, C = x.shape
        heads, kv_heads = self.parts["heads"], self.parts["kv_heads"]
        d = C // heads
        q, k, v = (part.view(B, T, -1, d).transpose(1, 2)
                   for part in self.linear(x, name + ".c_attn").split([C, kv_heads * d, kv_heads * d], -1))
        if "rope_theta" in self.parts:
            q, k = (rotated(part, position, self.parts["rope_theta"]) for part in (q, k))
        k, v = (part.repeat_interleave(heads // kv_heads, 1) for part in (k, v))
        scores = q @ k.transpose(-1, -2) / d ** 0.5
        if self.parts["causal"]:
            scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), float("-inf"))
        if length is not None:  # real tokens come first
            padding = torch.arange(T) >= length.unsqueeze(-1)
            scores = scores.masked_fill(padding[:, None, None, :], float("-inf"))
        return self.linear((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C), name + ".c_proj")

    def activated(self, hidden):
        if self.parts["activation"] == "swiglu":
            gate, up = hidden.chunk(2, -1)
            return F.silu(gate) * up
        return ACTIVATIONS[self.parts["activation"]](hidden)

    def feed_forward(self, x, name):
        return self.linear(self.activated(self.linear(x, name + ".c_fc")), name + ".c_proj")

    def expert(self, x, name, number):
        """x (n, C): the rows that this one of the experts takes."""
        of = lambda kind: self.w[f"{name}.experts.{kind}"][number] if f"{name}.experts.{kind}" in self.w else None
        hidden = F.linear(x, of("c_fc.weight"), of("c_fc.bias"))
        return F.linear(self.activated(hidden), of("c_proj.weight"), of("c_proj.bias"))

    def experts(self, x, layer, length):
        """x (B, K, C). Adds the gate's losses to self.auxiliary."""
        name, of_layer, settings = f"h.{layer}.mlp", self.parts["experts"][layer], self.expert_settings[layer]
        B, K, C = x.shape
        E, k = of_layer["count"], of_layer["top"]
        all_rows = x.reshape(-1, C)
        # Padding meets no expert, and counts for nothing.
        real = torch.arange(B * K) if length is None else (
            (torch.arange(K) < length.unsqueeze(-1)).flatten().nonzero()[:, 0])
        rows = all_rows[real]
        N = len(rows)
        logits = F.linear(rows, self.w[name + ".gate.weight"])
        probability = logits.softmax(-1)
        # The choices of deft: two that lie within float32's rounding have no order of their own.
        chosen = self.chosen[layer]  # (N, k)
        self.beyond = max(self.beyond, (probability.topk(k).values - probability.gather(1, chosen)).abs().max().item())
        capacity = N * k
        if settings["capacity_factor"] > 0:
            share = min(N, math.ceil(N * k * settings["capacity_factor"] / E))
            capacity = max(settings["min_capacity"], share)
        kept = torch.zeros_like(chosen, dtype=torch.bool)
        for e in range(E):
            choice, row = (chosen.T == e).nonzero()[:capacity].T  # all first choices come before the second ones
            kept[row, choice] = True
        weight = probability.gather(1, chosen) * kept
        if k > 1:
            weight = weight / weight.sum(-1, keepdim=True).clamp_min(2 ** -23)
        y = torch.zeros_like(rows)
        for e in range(E):
            row, choice = (kept & (chosen == e)).nonzero(as_tuple=True)
            y = y.index_add(0, row, weight[row, choice].unsqueeze(-1) * self.expert(rows[row], name, e))
        out = torch.zeros_like(all_rows).index_add(0, real, y)

        counted = chosen[:, :1] if k == 2 else chosen
        load = torch.bincount(counted.flatten(), minlength=E) / counted.numel()
        balance = E * (probability.mean(0) * load).sum()
        z = logits.logsumexp(-1).square().mean()
        self.auxiliary = self.auxiliary + settings["aux_weight"] * balance + settings["z_weight"] * z
        if of_layer["residual"]:
            mix = self.linear(all_rows, name + ".coefficient").softmax(-1)
            out = mix[:, :1] * out + mix[:, 1:] * self.feed_forward(all_rows, name)
        return out.view(B, K, C)

    def block(self, x, layer, position, length):
        norm = lambda y, name: self.norm(y, f"h.{layer}.{name}", self.parts["norm"])
        attention = lambda y: self.attention(y, f"h.{layer}.attn", position, length)
        feed_forward = lambda y: (self.experts(y, layer, length) if self.expert_settings[layer] else
                                  self.feed_forward(y, f"h.{layer}.mlp"))
        if self.parts["placement"] == "pre":
            x = x + attention(norm(x, "ln_1"))
            return x + feed_forward(norm(x, "ln_2"))
        x = norm(x + attention(x), "ln_1")
        return norm(x + feed_forward(x), "ln_2")

    def token_rows(self, token, segment):
        x = self.w["wte.weight"][token]
        return x if segment is None else x + self.w["wse.weight"][segment]

    def image_rows(self, image):
        """image (B, height, width, channels): its patches after the class token, (B, T, C)."""
        channels, size = self.parts["patches"]["channels"], self.parts["patches"]["size"]
        # A convolution's weight is (C, channels, P, P), where ours has a patch's rows, columns, channels in that order.
        weight = self.w["patch.weight"].view(-1, size, size, channels).permute(0, 3, 1, 2)
        patches = F.conv2d(image.permute(0, 3, 1, 2), weight, self.w["patch.bias"], stride=size)
        token = self.w["class_token.weight"].expand(len(image), 1, -1)
        return torch.cat([token, patches.flatten(2).transpose(1, 2)], 1)

    def states(self, x, length, kept, sets):
        """x (B, T, C): the rows of tokens or of patches."""
        B, T, _ = x.shape
        position = torch.arange(T).expand(B, T)
        if "wpe.weight" in self.w:
            x = x + self.w["wpe.weight"][:T]
        if self.parts["input_norm"]:
            x = self.norm(x, "ln_e", self.parts["input_norm"])
        for layer in range(self.layers):
            if sets[layer] < 0:
                x = self.block(x, layer, position, length)
                continue
            rows = kept[sets[layer]].long()
            index = rows.unsqueeze(-1).expand(-1, -1, x.shape[-1])
            x = x.scatter(1, index, self.block(x.gather(1, index), layer, rows, length))
        return self.norm(x, "ln_f", self.parts["final_norm"]) if self.parts["final_norm"] else x

    def logits(self, x):
        if "head_activation" in self.parts:
            x = ACTIVATIONS[self.parts["head_activation"]](self.linear(x, "lm_head.dense"))
            x = self.norm(x, "lm_head.ln", self.parts["head_norm"])
        return F.linear(x, self.w.get("lm_head.weight", self.w["wte.weight"]), self.w.get("lm_head.bias"))

    def class_logits(self, x):
        x = x.mean(1) if self.parts["pooling"] == "mean" else x[:, 0]
        if "pooler.weight" in self.w:
            x = self.linear(x, "pooler").tanh()
        return self.linear(x, "class_head")


def losses_of(logits, target):
    """Each in the target's shape, 0 where there is none; and their mean over the targets."""
    loss = F.cross_entropy(logits.flatten(0, -2), target.flatten(), reduction="none", ignore_index=-1)
    return loss.view(target.shape), loss.sum() / max(1, (target >= 0).sum().item())


def failures_of(path):
    tensors, meta = load(path)
    weights = {name[8:]: t.double().requires_grad_() for name, t in tensors.items() if name.startswith("weights.")}
    integers = lambda name: tensors[name].long() if name in tensors else None
    token, target = integers("batch.token"), integers("batch.target")  # of a model of tokens
    length, kept, class_target = (integers(name) for name in ("batch.length", "kept.index", "batch.class_target"))
    model = Model(meta, weights)
    model.chosen = {layer: tensors[f"experts.{layer}"].long() for layer in range(model.layers)
                    if f"experts.{layer}" in tensors}
    sets = [int(number) for number in meta["kept_set_of_layer"].split(",")] if kept is not None else [-1] * model.layers
    rows = model.image_rows(tensors["batch.image"].double()) if token is None else model.token_rows(
        token, integers("batch.segment"))
    states = model.states(rows, length, kept, sets)
    total = model.auxiliary
    if target is not None:
        logits = model.logits(states)
        loss, mean = losses_of(logits, target)
        total = total + mean
    if class_target is not None:
        class_logits = model.class_logits(states)
        class_loss, class_mean = losses_of(class_logits, class_target)
        total = total + class_mean
    total.backward()

    failures = []

    def check(name, ours, theirs, bound):
        error = ((ours.double() - theirs).square().sum() / theirs.square().sum().clamp_min(1e-30)).item()
        if not error <= bound:
            failures.append(f"{name}: normalised squared error {error:.3g} above {bound:.3g}")

    if target is not None:
        # Values at padding are ignored.
        real = torch.ones_like(token, dtype=torch.bool) if length is None else (
            torch.arange(token.shape[1]) < length.unsqueeze(-1))
        check("logits", tensors["logits"][real], logits.detach()[real], 1e-10)
        check("loss", tensors["loss"], loss.detach(), 1e-10)
    if not model.beyond <= 1e-6:
        failures.append(f"a choice lies {model.beyond:.3g} from the best one, not within 1e-6")
    check("mean_loss", torch.tensor([float(meta["mean_loss"])]), total.detach().view(1), 1e-11)
    if class_target is not None:
        check("class_logits", tensors["class_logits"], class_logits.detach(), 1e-10)
        check("class_loss", tensors["class_loss"], class_loss.detach(), 1e-10)
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
        own_decay = decay if own.dim() > 1 and not name.endswith(".bias") else 0.0  # those of experts have rows
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


if __name__ == "__main__":
    failures = [failure for path in sys.argv[1:] for failure in failures_of(path)]
    print("\n".join(failures) or f"equal within rounding (torch {torch.__version__})")
    sys.exit(1 if failures else 0)
