"""Continues a prompt greedily with a checkpoint folder loaded as Hugging Face's GPT-2; prints the tokens as JSON.

usage: huggingface_generate.py CHECKPOINT COUNT TOKEN...; exits 77 where a package is missing.
"""
import json
import os
import sys

try:
    import torch
    from transformers import GPT2LMHeadModel
except ImportError as error:
    print(error)
    sys.exit(77)

folder, count, prompt = sys.argv[1], int(sys.argv[2]), [int(token) for token in sys.argv[3:]]
answer = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # messages of the library are not part of the answer
model = GPT2LMHeadModel.from_pretrained(folder, use_safetensors=True).eval()
# The end-of-document mark is not a special token to it: the texts are compared up to there.
model.generation_config.eos_token_id = None
with torch.no_grad():
    tokens = model.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
                            max_new_tokens=count, do_sample=False, pad_token_id=0)
answer.write(json.dumps(tokens[0, len(prompt):].tolist()))
