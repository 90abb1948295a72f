"""The models and batches of engine/bench/step.h in PyTorch, for the scripts that time them.

parts: what engine/models/parts_json.h has, and "lengths", the real tokens of each sample; none: all are real.
"""
import torch
from torch import nn
from torch.nn import functional as F

ACTIVATIONS = {"gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "gelu_erf": F.gelu}


class RMSNorm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


def norm_of(width, spec):
    if spec is None:
        return nn.Identity()
    if spec["kind"] == "layer":
        return nn.LayerNorm(width, eps=spec["eps"])
    return nn.RMSNorm(width, eps=spec["eps"]) if hasattr(nn, "RMSNorm") else RMSNorm(width, spec["eps"])


def rotated(x, cosine, sine):
    first, second = x.chunk(2, -1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


class Block(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.parts = parts
        width, bias, hidden = parts["width"], parts["feed_forward_bias"], parts["hidden"]
        self.heads, self.kv_heads = parts["heads"], parts["kv_heads"]
        self.size = width // self.heads
        self.ln1, self.ln2 = norm_of(width, parts["norm"]), norm_of(width, parts["norm"])
        self.qkv = nn.Linear(width, (self.heads + 2 * self.kv_heads) * self.size, parts["attention_bias"])
        self.proj = nn.Linear(width, width, parts["attention_bias"])
        self.is_gated = parts["activation"] == "swiglu"
        self.fc = nn.Linear(width, 2 * hidden if self.is_gated else hidden, bias)
        self.fc2 = nn.Linear(hidden, width, bias)

    def attention(self, x, batch_of):
        B, T, C = x.shape
        q, k, v = (part.view(B, T, -1, self.size).transpose(1, 2)
                   for part in self.qkv(x).split([C, self.kv_heads * self.size, self.kv_heads * self.size], -1))
        if "rope_theta" in self.parts:
            q, k = (rotated(part, batch_of["cosine"], batch_of["sine"]) for part in (q, k))
        if self.kv_heads < self.heads:
            k, v = (part.repeat_interleave(self.heads // self.kv_heads, 1) for part in (k, v))
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, batch_of["real"], is_causal=self.parts["causal"])
        else:
            scores = q @ k.transpose(-1, -2) * self.size ** -0.5
            y = scores.masked_fill(batch_of["hidden"], float("-inf")).softmax(-1) @ v
        return self.proj(y.transpose(1, 2).reshape(B, T, C))

    def feed_forward(self, x):
        hidden = self.fc(x)
        if self.is_gated:
            gate, up = hidden.chunk(2, -1)
            return self.fc2(F.silu(gate) * up)
        return self.fc2(ACTIVATIONS[self.parts["activation"]](hidden))

    def forward(self, x, batch_of):
        if self.parts["placement"] == "pre":
            x = x + self.attention(self.ln1(x), batch_of)
            return x + self.feed_forward(self.ln2(x))
        x = self.ln1(x + self.attention(x, batch_of))
        return self.ln2(x + self.feed_forward(x))


class Patches(nn.Module):
    """Images (B, height, width, channels) as rows after the class token, (B, T, C)."""

    def __init__(self, parts):
        super().__init__()
        self.size, self.length = parts["patches"]["size"], parts["max_seqlen"]
        self.linear = nn.Linear(self.size ** 2 * parts["patches"]["channels"], parts["width"])
        self.token = nn.Parameter(torch.zeros(1, 1, parts["width"]))

    def forward(self, image):
        B, H, W, _ = image.shape
        P = self.size
        cut = image.view(B, H // P, P, W // P, P, -1).permute(0, 1, 3, 2, 4, 5).reshape(B, self.length - 1, -1)
        return torch.cat([self.token.expand(B, -1, -1), self.linear(cut)], 1)


class Model(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.parts = parts
        width, vocab, length = parts["width"], parts["vocab"], parts["max_seqlen"]  # vocab: 0 of a model of images
        self.patches = Patches(parts) if parts.get("patches") else None
        self.wte = None if self.patches else nn.Embedding(vocab, width)
        self.wpe = nn.Embedding(length, width) if parts["learned_positions"] else None
        self.wse = nn.Embedding(parts["segments"], width) if parts["segments"] else None
        self.ln_e, self.ln = norm_of(width, parts["input_norm"]), norm_of(width, parts["final_norm"])
        self.blocks = nn.ModuleList(Block(parts) for _ in range(parts["layers"]))
        self.has_token_head = "tied_head" in parts
        self.head = nn.Linear(width, vocab, False) if self.has_token_head and not parts["tied_head"] else None
        self.head_bias = nn.Parameter(torch.zeros(vocab)) if parts.get("head_bias") else None
        self.dense = nn.Linear(width, width) if "head_activation" in parts else None
        self.dense_ln = norm_of(width, parts.get("head_norm"))
        self.pooler = nn.Linear(width, width) if parts.get("pooler") else None
        self.classes = nn.Linear(width, parts["classes"]) if "classes" in parts else None
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def states(self, batch_of):
        x = self.patches(batch_of["image"]) if self.patches else self.wte(batch_of["token"])
        if self.wpe is not None:
            x = x + self.wpe.weight
        if self.wse is not None:
            x = x + self.wse(batch_of["segment"])
        x = self.ln_e(x)
        for block in self.blocks:
            x = block(x, batch_of)
        return self.ln(x)

    def token_loss(self, states, batch_of):
        # The rows with a target alone meet the vocabulary.
        x = states.flatten(0, 1)
        if batch_of["masked"] is not None:
            x = x[batch_of["masked"]]
        if self.dense is not None:
            x = self.dense_ln(ACTIVATIONS[self.parts["head_activation"]](self.dense(x)))
        weight = self.wte.weight if self.head is None else self.head.weight
        return F.cross_entropy(F.linear(x, weight, self.head_bias), batch_of["target"])

    def class_loss(self, states, batch_of):
        pooled = states.mean(1) if self.parts["pooling"] == "mean" else states[:, 0]
        if self.pooler is not None:
            pooled = self.pooler(pooled).tanh()
        return F.cross_entropy(self.classes(pooled), batch_of["class_target"])

    def forward(self, batch_of):
        states = self.states(batch_of)
        if self.classes is None:
            return self.token_loss(states, batch_of)
        of_classes = self.class_loss(states, batch_of)
        return of_classes + self.token_loss(states, batch_of) if self.has_token_head else of_classes


def zipf_tokens(id_of_rank, count):
    """Tokens whose ranks follow Zipf's law, as engine/bench/zipf_tokens.h draws them."""
    vocab = len(id_of_rank)
    return id_of_rank[(vocab ** torch.rand(count, dtype=torch.float64)).long().clamp(max=vocab) - 1]


def a_batch(parts, batch, device="cpu"):
    """Random tokens, or images with random classes; where samples have lengths, 15% of the real ones are
    targets, and two halves are segments."""
    vocab, length, size = parts["vocab"], parts["max_seqlen"], parts["width"] // parts["heads"]
    patches = parts.get("patches")
    on = {"real": None, "masked": None}
    if patches:
        on["image"] = torch.randn(batch, patches["height"], patches["width"], patches["channels"])
    else:
        id_of_rank = torch.randperm(vocab)
        on["token"] = zipf_tokens(id_of_rank, batch * length).view(batch, length)
    angle = torch.arange(length)[:, None] * parts.get("rope_theta", 1) ** (-torch.arange(size // 2) / (size / 2))
    on["cosine"], on["sine"] = angle.cos(), angle.sin()
    on["hidden"] = torch.ones(length, length, dtype=torch.bool).triu(1) if parts["causal"] else torch.zeros(
        1, dtype=torch.bool)
    targets = batch * length
    if parts["lengths"]:
        real = torch.arange(length) < torch.tensor(parts["lengths"])[:, None]
        on["real"], on["hidden"] = real[:, None, None, :], ~real[:, None, None, :]
        places = real.flatten().nonzero().flatten()
        on["masked"] = places[torch.randperm(len(places))[:round(0.15 * len(places))]].sort().values
        targets = len(on["masked"])
        on["segment"] = (torch.arange(length) * 2 >= torch.tensor(parts["lengths"])[:, None]).long()
    if not patches:
        on["target"] = zipf_tokens(id_of_rank, targets)
    on["class_target"] = torch.randint(parts.get("classes", 1), (batch,))
    return {name: value if value is None else value.to(device) for name, value in on.items()}
