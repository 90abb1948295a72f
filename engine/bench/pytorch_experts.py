"""Layers of experts in PyTorch, timed: the opponents of engine/bench/expert_layer.h.

usage: pytorch_experts.py ROWS WIDTH HIDDEN EXPERTS TOP THREADS
A worker: says first what it is, a JSON object in a line, then answers each line MODE RUNS with {"seconds": of one forward
and backward pass}. dense: one layer of TOP times HIDDEN. loop: each expert takes its rows by an index, none is dropped.
masks: a tensor of rows x experts x capacity says what goes where, by products with it (Lepikhin et al. 2020, algorithm 1
and section 2.2, as DeepSpeed has it), each expert padded to the capacity of factor 1; what is beyond it is dropped.
"""
import json
import math
import os
import sys
import time

rows, width, hidden, count, top, threads = map(int, sys.argv[1:])
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(threads)

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(threads)
torch.manual_seed(1)


class FeedForward(nn.Module):
    def __init__(self, hidden_values):
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(width, hidden_values), nn.Linear(hidden_values, width)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


dense = FeedForward(top * hidden)
experts = nn.ModuleList([FeedForward(hidden) for _ in range(count)])
gate = nn.Linear(width, count, bias=False)
x = (3.4 * torch.rand(rows, width) - 1.7).requires_grad_()
dout = 1e-3 * (2 * torch.rand(rows, width) - 1)


def routed():
    """The gate's probabilities, its choices (rows, top), their weights, and the balance loss."""
    prob = gate(x).softmax(-1)
    chosen = prob.topk(top, -1).indices
    weight = prob.gather(1, chosen)
    if top > 1:
        weight = weight / weight.sum(-1, keepdim=True)
    first = F.one_hot(chosen[:, 0], count).float()
    return chosen, weight, count * (prob.mean(0) * first.mean(0)).sum()


def run_loop():
    chosen, weight, balance = routed()
    out = torch.zeros_like(x)
    for e, expert in enumerate(experts):
        row, choice = (chosen == e).nonzero(as_tuple=True)
        out = out.index_add(0, row, expert(x[row]) * weight[row, choice, None])
    return out, balance


def run_masks():
    chosen, weight, balance = routed()
    capacity = math.ceil(rows * top / count)
    combine, before = torch.zeros(rows, count, capacity), torch.zeros(count, dtype=torch.long)
    for choice in range(top):
        mask = F.one_hot(chosen[:, choice], count)
        place = (mask.cumsum(0) - 1 + before) * mask
        before = before + mask.sum(0)
        mask = mask * (place < capacity)
        at = F.one_hot((place * mask).sum(1), capacity).float()
        combine = combine + torch.einsum("se,sc->sec", weight[:, choice, None] * mask, at)
    taken = torch.einsum("sec,sm->ecm", combine.bool().to(x.dtype), x)
    put = torch.stack([expert(taken[e]) for e, expert in enumerate(experts)])
    return torch.einsum("sec,ecm->sm", combine, put), balance


MODES = {"dense": lambda: (dense(x), None), "loop": run_loop, "masks": run_masks}


def step(mode):
    for module in (dense, experts, gate):
        module.zero_grad(set_to_none=True)
    x.grad = None
    out, balance = MODES[mode]()
    torch.autograd.backward([out] if balance is None else [out, 0.01 * balance],
                            [dout] if balance is None else [dout, None])


def answer(values):
    print(json.dumps(values), flush=True)


answer({"version": torch.__version__, "modes": list(MODES)})
for line in sys.stdin:
    mode, runs = line.split()
    before = time.perf_counter()
    for _ in range(int(runs)):
        step(mode)
    answer({"seconds": (time.perf_counter() - before) / int(runs)})
