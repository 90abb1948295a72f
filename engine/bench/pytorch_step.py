"""One training step in PyTorch, timed: the model, batch and counting of engine/bench/step.h.

usage: pytorch_step.py MODEL BATCH THREADS [f32|bf16]
MODEL: JSON, as engine/models/parts_json.h has it, and "lengths", the real tokens of each sample; none: all are real.
With a dtype: on the GPU, through torch.compile, bf16 by autocast, AdamW fused, the fastest attention that PyTorch picks;
prints one JSON object. Without: on the CPU in float32, as a worker that others are interleaved with. It says first what
it is, a JSON object in a line, then answers each line MODE STEPS, MODE one of its modes, with {"seconds": of one step},
and gemm with {"gemm_flops": its rate on 1024 x 3072 x 768}.
"""
import ctypes
import json
import os
import sys
import time

parts = json.loads(sys.argv[1])
batch, threads = int(sys.argv[2]), int(sys.argv[3])
dtype = sys.argv[4] if len(sys.argv) > 4 else None
device = "cuda" if dtype else "cpu"
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(threads)

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(threads)
torch.manual_seed(1)
width, vocab, length = parts["width"], parts["vocab"], parts["max_seqlen"]  # vocab: 0 of a model of images
patches = parts.get("patches")
heads, kv_heads = parts["heads"], parts["kv_heads"]
size = width // heads
ACTIVATIONS = {"gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "gelu_erf": F.gelu}


class RMSNorm(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


def norm_of(spec):
    if spec is None:
        return nn.Identity()
    if spec["kind"] == "layer":
        return nn.LayerNorm(width, eps=spec["eps"])
    return nn.RMSNorm(width, eps=spec["eps"]) if hasattr(nn, "RMSNorm") else RMSNorm(spec["eps"])


def rotated(x, cosine, sine):
    first, second = x.chunk(2, -1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        bias, hidden = parts["feed_forward_bias"], parts["hidden"]
        self.ln1, self.ln2 = norm_of(parts["norm"]), norm_of(parts["norm"])
        self.qkv = nn.Linear(width, (heads + 2 * kv_heads) * size, parts["attention_bias"])
        self.proj = nn.Linear(width, width, parts["attention_bias"])
        self.is_gated = parts["activation"] == "swiglu"
        self.fc = nn.Linear(width, 2 * hidden if self.is_gated else hidden, bias)
        self.fc2 = nn.Linear(hidden, width, bias)

    def attention(self, x, batch_of):
        B, T, C = x.shape
        q, k, v = (part.view(B, T, -1, size).transpose(1, 2)
                   for part in self.qkv(x).split([C, kv_heads * size, kv_heads * size], -1))
        if "rope_theta" in parts:
            q, k = (rotated(part, batch_of["cosine"], batch_of["sine"]) for part in (q, k))
        if kv_heads < heads:
            k, v = (part.repeat_interleave(heads // kv_heads, 1) for part in (k, v))
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, batch_of["real"], is_causal=parts["causal"])
        else:
            scores = q @ k.transpose(-1, -2) * size ** -0.5
            y = scores.masked_fill(batch_of["hidden"], float("-inf")).softmax(-1) @ v
        return self.proj(y.transpose(1, 2).reshape(B, T, C))

    def feed_forward(self, x):
        hidden = self.fc(x)
        if self.is_gated:
            gate, up = hidden.chunk(2, -1)
            return self.fc2(F.silu(gate) * up)
        return self.fc2(ACTIVATIONS[parts["activation"]](hidden))

    def forward(self, x, batch_of):
        if parts["placement"] == "pre":
            x = x + self.attention(self.ln1(x), batch_of)
            return x + self.feed_forward(self.ln2(x))
        x = self.ln1(x + self.attention(x, batch_of))
        return self.ln2(x + self.feed_forward(x))


class Patches(nn.Module):
    """Images (B, height, width, channels) as rows behind the class token, (B, T, C)."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(patches["size"] ** 2 * patches["channels"], width)
        self.token = nn.Parameter(torch.zeros(1, 1, width))

    def forward(self, image):
        B, H, W, _ = image.shape
        P = patches["size"]
        cut = image.view(B, H // P, P, W // P, P, -1).permute(0, 1, 3, 2, 4, 5).reshape(B, length - 1, -1)
        return torch.cat([self.token.expand(B, -1, -1), self.linear(cut)], 1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = Patches() if patches else None
        self.wte = None if patches else nn.Embedding(vocab, width)
        self.wpe = nn.Embedding(length, width) if parts["learned_positions"] else None
        self.wse = nn.Embedding(parts["segments"], width) if parts["segments"] else None
        self.ln_e, self.ln = norm_of(parts["input_norm"]), norm_of(parts["final_norm"])
        self.blocks = nn.ModuleList(Block() for _ in range(parts["layers"]))
        self.has_token_head = "tied_head" in parts
        self.head = nn.Linear(width, vocab, False) if self.has_token_head and not parts["tied_head"] else None
        self.head_bias = nn.Parameter(torch.zeros(vocab)) if parts.get("head_bias") else None
        self.dense = nn.Linear(width, width) if "head_activation" in parts else None
        self.dense_ln = norm_of(parts.get("head_norm"))
        self.pooler = nn.Linear(width, width) if parts.get("pooler") else None
        self.classes = nn.Linear(width, parts["classes"]) if "classes" in parts else None
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def states(self, batch_of):
        x = self.patches(batch_of["image"]) if patches else self.wte(batch_of["token"])
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
            x = self.dense_ln(ACTIVATIONS[parts["head_activation"]](self.dense(x)))
        weight = self.wte.weight if self.head is None else self.head.weight
        return F.cross_entropy(F.linear(x, weight, self.head_bias), batch_of["target"])

    def class_loss(self, states, batch_of):
        pooled = states.mean(1) if parts["pooling"] == "mean" else states[:, 0]
        if self.pooler is not None:
            pooled = self.pooler(pooled).tanh()
        return F.cross_entropy(self.classes(pooled), batch_of["class_target"])

    def forward(self, batch_of):
        states = self.states(batch_of)
        if self.classes is None:
            return self.token_loss(states, batch_of)
        of_classes = self.class_loss(states, batch_of)
        return of_classes + self.token_loss(states, batch_of) if self.has_token_head else of_classes


def a_batch():
    """Random tokens, or images whose classes are to be told; where samples have lengths, 15% of the real ones are to be
    told, and two halves are segments."""
    on = {"real": None, "masked": None}
    if patches:
        on["image"] = torch.randn(batch, patches["height"], patches["width"], patches["channels"])
    else:
        on["token"] = torch.randint(vocab, (batch, length))
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
        on["target"] = torch.randint(vocab, (targets,))
    on["class_target"] = torch.randint(parts.get("classes", 1), (batch,))
    return {name: value if value is None else value.to(device) for name, value in on.items()}


model = Model().to(device)
fused = {"fused": True} if dtype else {}
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.1, **fused)
the_batch = a_batch()
if dtype == "f32":
    torch.backends.cuda.matmul.allow_tf32 = False


def step(forward):
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast(device, torch.bfloat16, enabled=dtype == "bf16"):
        loss = forward(the_batch)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item() if dtype else None  # waits for the GPU, as a training loop that logs does


def median_seconds(run, least_runs, least_seconds):
    run(), run()
    times, start = [], time.perf_counter()
    while len(times) < least_runs or time.perf_counter() - start < least_seconds:
        before = time.perf_counter()
        run()
        times.append(time.perf_counter() - before)
    return sorted(times)[len(times) // 2]


if dtype:
    on_gpu = torch.compile(model)
    seconds = median_seconds(lambda: step(on_gpu), 10, 3.0)
    print(json.dumps({"seconds": seconds, "version": torch.__version__}))
    sys.exit()


def blas():
    """What multiplies: OpenBLAS and the core type it chose, or MKL."""
    with open("/proc/self/maps") as maps:
        libraries = {line.split()[-1] for line in maps if "openblas" in line}
    for library in sorted(libraries):
        name = getattr(ctypes.CDLL(library), "openblas_get_corename", None)
        if name is None:  # NumPy's own, under other names, multiplies nothing of PyTorch's
            continue
        name.restype = ctypes.c_char_p
        return "OpenBLAS for " + name().decode()
    return "MKL" if torch.backends.mkl.is_available() else "no BLAS that it names"


def compiled_mode():
    """torch.compile's step beside the eager one, where this PyTorch has it and it works here."""
    if not hasattr(torch, "compile"):
        return {}, ""
    try:
        compiled = torch.compile(model)
        step(compiled)
        return {"compiled": compiled}, ""
    except Exception as failure:
        return {}, str(failure).strip().splitlines()[0]


answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what a compiler prints is no answer


def answer(values):
    answers.write(json.dumps(values) + "\n")
    answers.flush()


with torch.no_grad():
    first_loss = model(the_batch).item()
extra, failure = compiled_mode()
modes = {"eager": model, **extra}
a, b = torch.randn(1024, 768), torch.randn(3072, 768)
answer({"version": torch.__version__, "modes": list(modes), "blas": blas(), "first_loss": first_loss,
        "compile_failure": failure})
for line in sys.stdin:
    if line.strip() == "gemm":
        seconds = median_seconds(lambda: a @ b.t(), 5, 0.2)
        answer({"gemm_flops": 2 * 1024 * 3072 * 768 / seconds})
        continue
    mode, steps = line.split()
    before = time.perf_counter()
    for _ in range(int(steps)):
        step(modes[mode])
    answer({"seconds": (time.perf_counter() - before) / int(steps)})
