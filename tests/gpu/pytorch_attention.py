"""Causal attention in PyTorch, timed by CUDA events: each of its kernels, forward and backward, in bf16.

usage: pytorch_attention.py FILE
FILE gets JSON: the version, and for each shape (batch, heads, length, head size) and kernel seconds, or why it does not run.
"""
import json
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

SHAPES = [(16, 12, 1024, 64), (64, 12, 1024, 64), (4, 12, 4096, 64), (16, 16, 1024, 64), (16, 16, 2048, 128)]
NAMES = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION"}  # older PyTorch lacks the second
KERNELS = {name: getattr(SDPBackend, kernel) for name, kernel in NAMES.items() if hasattr(SDPBackend, kernel)}
WARM_UP, RUNS = 3, 20


def median_seconds(run):
    for _ in range(WARM_UP):
        run()
    times = []
    for _ in range(RUNS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return sorted(times)[RUNS // 2]


def row(shape, kernel):
    torch.manual_seed(1)
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    with sdpa_kernel([KERNELS[kernel]]):
        forward = median_seconds(lambda: scaled_dot_product_attention(q, k, v, is_causal=True))
        out = scaled_dot_product_attention(q, k, v, is_causal=True)
        gradient = torch.randn_like(out)
        backward = median_seconds(lambda: torch.autograd.grad(out, (q, k, v), gradient, retain_graph=True))
    batch, heads, length, size = shape
    product = 2 * batch * heads * size * length * (length + 1) / 2
    return {"forward_seconds": forward, "backward_seconds": backward, "forward_flops": 2 * product / forward,
            "backward_flops": 5 * product / backward}


rows = []
for shape in SHAPES:
    for kernel in KERNELS:
        entry = {"shape": shape, "kernel": kernel}
        try:
            entry.update(row(shape, kernel))
        except RuntimeError as failure:
            entry["failure"] = str(failure).strip().splitlines()[0]
        rows.append(entry)
with open(sys.argv[1], "w") as out:
    json.dump({"version": torch.__version__, "gpu": torch.cuda.get_device_name(0), "rows": rows}, out)
