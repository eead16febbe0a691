#!/usr/bin/env python3
"""Compares bin/tests/encode_text with the Python library tokenizers: the same ids and offsets for the lines of a text.

    compare_tokenizer.py --program BUILD/bin/tests/encode_text --tokenizer tokenizer.json --text FILE [--lines N]
Prints "N lines equal, N differ"; exit status 1 when one differs. Takes N lines spread evenly over the file (default: all).
"""
import argparse
import json
import subprocess
import sys
import tempfile

from tokenizers import Tokenizer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--text", required=True)
    parser.add_argument("--lines", type=int, default=0)
    arguments = parser.parse_args()
    with open(arguments.text, encoding="utf-8", newline="\n") as file:
        lines = file.read().split("\n")
    if arguments.lines:
        lines = lines[:: max(1, len(lines) // arguments.lines)][: arguments.lines]
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="\n", suffix=".txt") as text:
        text.write("".join(line + "\n" for line in lines))
        text.flush()
        command = [arguments.program, "--tokenizer", arguments.tokenizer, "--text", text.name, "--ids"]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    ours = [json.loads(line) for line in output.splitlines()]
    assert len(ours) == len(lines), (len(ours), len(lines))
    theirs = Tokenizer.from_file(arguments.tokenizer)
    equal = 0
    for line, got in zip(lines, ours):
        wanted = theirs.encode(line)
        same = got["ids"] == wanted.ids and [tuple(pair) for pair in got["offsets"]] == wanted.offsets
        equal += same
        if not same:
            print(f"differs: {line!r}\n  ours   {got['ids']} {got['offsets']}\n  theirs {wanted.ids} {wanted.offsets}")
    print(f"{equal} lines equal, {len(lines) - equal} differ")
    sys.exit(0 if equal == len(lines) else 1)


if __name__ == "__main__":
    main()
