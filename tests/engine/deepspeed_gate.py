"""DeepSpeed's gate on logits that are given.

usage: deepspeed_gate.py FILE
FILE: a JSON list of {"logits": (N, E), "top": 1 or 2, "factor", "least", "rank": (N), the rows that an expert of a top-1 gate
keeps first have the highest}. Prints a JSON list of {"weight": (N, E), "balance"}. Exit code 77: DeepSpeed is absent.
"""
import json
import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # the library's output is not an answer
try:
    import torch
    from deepspeed.moe import sharded_moe
except ImportError as missing:
    sys.stderr.write(f"{missing}\n")
    sys.exit(77)

results = []
for case in json.load(open(sys.argv[1])):
    logits = torch.tensor(case["logits"], dtype=torch.float32)
    if case["top"] == 1:
        # Its random numbers, one for each row and expert, by which an expert keeps rows.
        rank = torch.tensor(case["rank"], dtype=torch.float64)[:, None]
        sharded_moe.exp_selection_uniform_map[logits.device] = lambda shape: rank.expand(shape)
        balance, combine, _, _ = sharded_moe.top1gating(logits, case["factor"], case["least"], use_tutel=False)
    else:
        balance, combine, _, _ = sharded_moe.top2gating(logits, case["factor"], case["least"],
                                                        top2_2nd_expert_sampling=False)
    results.append({"weight": combine.sum(-1).tolist(), "balance": balance.item()})
json.dump(results, answers)
