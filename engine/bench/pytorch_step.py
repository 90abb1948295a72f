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

sys.dont_write_bytecode = True
from pytorch_model import Model, a_batch

torch.set_num_threads(threads)
torch.manual_seed(1)

model = Model(parts).to(device)
fused = {"fused": True} if dtype else {}
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.1, **fused)
the_batch = a_batch(parts, batch, device)
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
os.dup2(2, 1)  # a compiler's output is not an answer


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
