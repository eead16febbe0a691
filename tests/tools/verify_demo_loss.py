#!/usr/bin/env python3
"""Does transformers compute the loss that Ringwright reports for the same checkpoint and the same text?

usage: verify_demo_loss.py CHECKPOINT_DIR TEXT LENGTH ROWS OUR_LOSS [--tol 1e-4]
TEXT: one document a line; lines are encoded, ended with the end-of-text id, joined, and cut into rows of LENGTH tokens; the first ROWS are one
global batch. OUR_LOSS: train/loss of the step that saw this batch. The tolerance is relative.
"""
import argparse
import json
import pathlib
import sys

import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("checkpoint", type=pathlib.Path)
parser.add_argument("text", type=pathlib.Path)
parser.add_argument("length", type=int)
parser.add_argument("rows", type=int)
parser.add_argument("loss", type=float)
parser.add_argument("--tol", type=float, default=1e-4)
arguments = parser.parse_args()

tokenizer = Tokenizer.from_file(str(arguments.checkpoint / "tokenizer.json"))
end_ids = json.loads((arguments.checkpoint / "config.json").read_text()).get("eos_token_id")
end_id = end_ids[0] if isinstance(end_ids, list) else end_ids
ids = []
for line in arguments.text.read_text(encoding="utf-8").split("\n"):
    if line:
        ids += tokenizer.encode(line).ids + ([] if end_id is None else [end_id])
needed = arguments.rows * arguments.length
if len(ids) < needed:
    sys.exit(f"the text has {len(ids)} tokens, {needed} are needed")
ids_BL = torch.tensor(ids[:needed]).reshape(arguments.rows, arguments.length)

model = AutoModelForCausalLM.from_pretrained(arguments.checkpoint, dtype=torch.float32).eval()
with torch.no_grad():
    theirs = float(model(input_ids=ids_BL, labels=ids_BL).loss)
difference = abs(theirs - arguments.loss) / abs(theirs)
good = difference <= arguments.tol
print(f"{'ok  ' if good else 'FAIL'} loss of the demo's checkpoint: ours {arguments.loss:.6f}, transformers' {theirs:.6f}, relative difference {difference:.2e}")
print(f"{int(good)} passed, {int(not good)} failed")
sys.exit(not good)
