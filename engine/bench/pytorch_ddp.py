"""Data-parallel training steps in PyTorch, timed: DistributedDataParallel over gloo, a process a rank, on the CPU in float32.

usage: pytorch_ddp.py MODEL BATCH RANKS THREADS [RANK PORT]
MODEL: as pytorch_step.py has it. BATCH: of all ranks together. THREADS: of each rank. One rank is plain PyTorch, without
DistributedDataParallel. Without RANK it is rank 0, which starts the others and forwards its standard input to
theirs. It says first what it is, a JSON object in a line, then answers each line MODE STEPS, MODE eager or compiled (by
torch.compile, before its first step), with {"seconds": of one step, from when all ranks begin to when all are done}.
"""
import json
import os
import socket
import subprocess
import sys
import time

parts = json.loads(sys.argv[1])
batch, ranks, threads = map(int, sys.argv[2:5])
rank = int(sys.argv[5]) if len(sys.argv) > 5 else 0
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(threads)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


port = sys.argv[6] if rank > 0 else free_port()
os.environ.update(RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
others = [subprocess.Popen([sys.executable] + sys.argv[:5] + [str(other), port], stdin=subprocess.PIPE,
                           stdout=subprocess.DEVNULL, text=True) for other in range(1, ranks if rank == 0 else 1)]

import torch
from torch import distributed, nn

sys.dont_write_bytecode = True
from pytorch_model import Model, a_batch

torch.set_num_threads(threads)
torch.manual_seed(1)
model = Model(parts)
torch.manual_seed(1 + rank)
the_batch = a_batch(parts, batch // ranks)
if ranks > 1:
    distributed.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)


def adamw():
    """The fused one, where this PyTorch has it on the CPU."""
    settings = {"lr": 1e-4, "weight_decay": 0.1}
    try:
        return torch.optim.AdamW(model.parameters(), fused=True, **settings), True
    except (RuntimeError, TypeError):
        return torch.optim.AdamW(model.parameters(), **settings), False


optimizer, is_fused = adamw()
modes = {"eager": model}
if hasattr(torch, "compile"):
    modes["compiled"] = torch.compile(model)


def step(forward):
    optimizer.zero_grad(set_to_none=True)
    forward(the_batch).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def meet():
    if ranks > 1:
        distributed.barrier()


def first_loss():
    """Of the untrained model, over all ranks' samples."""
    with torch.no_grad():
        loss = model(the_batch)
    if ranks > 1:
        distributed.all_reduce(loss)
    return loss.item() / ranks


answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # a compiler's output is not an answer


def answer(values):
    if rank == 0:
        answers.write(json.dumps(values) + "\n")
        answers.flush()


answer({"version": torch.__version__, "fused": is_fused, "modes": list(modes), "first_loss": first_loss()})
for line in sys.stdin:
    for other in others:
        other.stdin.write(line)
        other.stdin.flush()
    mode, steps = line.split()
    meet()
    before = time.perf_counter()
    for _ in range(int(steps)):
        step(modes[mode])
    meet()
    answer({"seconds": (time.perf_counter() - before) / int(steps)})
