#!/usr/bin/env python3
"""Does transformers see the loss that Ringwright reported? usage: verify_demo.py CHECKPOINT TEXT ROWS SEQUENCE_LENGTH REPORTED_LOSS

Tokenizes TEXT as Ringwright does (each line a document, closed by the end token, joined, cut into full windows), takes the first ROWS windows, and
compares transformers' mean next-token loss over them with REPORTED_LOSS, to 1e-4. Prints 'N passed, N failed' last.
"""
import os
import sys

import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

folder, text, rows, length, reported = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
end = model.config.eos_token_id
end = end[0] if isinstance(end, list) else end
stream = []
for line in open(text, encoding="utf-8").read().split("\n"):
    if line:
        stream += tokenizer.encode(line).ids + [end]
ids = torch.tensor(stream[: rows * length]).view(rows, length)
with torch.no_grad():
    loss = float(model(input_ids=ids, labels=ids, use_cache=False).loss)
good = abs(loss - reported) <= 1e-4
print(f"{'ok  ' if good else 'FAIL'} transformers {loss:.6f}, ringwright {reported:.6f}, difference {abs(loss - reported):.1e}")
print(f"{int(good)} passed, {int(not good)} failed")
sys.exit(not good)
