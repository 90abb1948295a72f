"""Loads a checkpoint folder as Hugging Face's GPT-2 and compares the loss of every position.

usage: huggingface_checkpoint.py CHECKPOINT LOSSES.safetensors; exits 77 where a package is missing.
"""
import sys

try:
    import torch
    from safetensors.torch import load_file
    from transformers import GPT2LMHeadModel
except ImportError as error:
    print(error)
    sys.exit(77)

folder, losses = sys.argv[1:]
ours = load_file(losses)
model, info = GPT2LMHeadModel.from_pretrained(folder, use_safetensors=True, output_loading_info=True)
model.eval()
# The head is tied to the embedding, and the causal mask is not a weight.
missing = [k for k in info["missing_keys"] if k != "lm_head.weight" and not k.endswith((".attn.bias", ".masked_bias"))]
assert not missing and not info["unexpected_keys"] and not info["mismatched_keys"], info
with torch.no_grad():
    logits = model(ours["token"].long()).logits
theirs = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ours["target"].long().flatten(), reduction="none")
difference = (theirs - ours["loss"].flatten()).abs().max().item()
print("largest difference of a loss:", difference)
assert difference < 1e-4, difference
