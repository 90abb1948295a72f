"""Greedy text of Hugging Face's GPT2LMHeadModel with its cache, timed: the opponent of engine/bench/generate.h.

usage: huggingface_generate.py FOLDER THREADS SAMPLES TOKEN...
A worker: says first what it is, a JSON object in a line, then answers each line TOKENS RUNS, texts of TOKENS tokens
after the prompt, with {"seconds": of one run, "tokens": of the first sample}.
"""
import json
import os
import sys
import time

folder, threads, samples = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
prompt = [int(token) for token in sys.argv[4:]]
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(threads)
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # the library's output is not an answer

import torch
import transformers

torch.set_num_threads(threads)
model = transformers.GPT2LMHeadModel.from_pretrained(folder, use_safetensors=True).eval()
model.generation_config.eos_token_id = None  # every run is as long as it is asked to be
ids = torch.tensor([prompt] * samples)
mask = torch.ones_like(ids)


def answer(values):
    answers.write(json.dumps(values) + "\n")
    answers.flush()


answer({"version": transformers.__version__, "torch": torch.__version__})
for line in sys.stdin:
    tokens, runs = map(int, line.split())
    before = time.perf_counter()
    with torch.no_grad():
        for _ in range(runs):
            text = model.generate(ids, attention_mask=mask, max_new_tokens=tokens, do_sample=False, use_cache=True,
                                  pad_token_id=0)
    seconds = (time.perf_counter() - before) / runs
    answer({"seconds": seconds, "tokens": text[0, len(prompt):].tolist()})
