#!/usr/bin/env python3
"""Trains a byte-level BPE tokenizer on a text file and writes tokenizer.json. Standard library only; the same text gives the same file.

assets/models/demo/tokenizer.json was made with
    tests/tools/train_tokenizer.py --text CACHE/data/kjv.txt --vocabulary 2048 --output assets/models/demo/tokenizer.json
"""
import argparse
import collections
import heapq
import json
import re

SPECIAL_TOKENS = ["<|pad|>", "<|begin|>", "<|end|>"]
# What the file says, and the same in the words of Python's re, which has no \p{L}.
PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
PYTHON_PATTERN = re.compile(r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d{1,3}| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def byte_symbols():
    """The character that stands for each byte: itself if it is printable Latin-1, else U+0100 and on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    symbols = {byte: chr(byte) for byte in printable}
    symbols.update({byte: chr(0x100 + i) for i, byte in enumerate(others)})
    return symbols


def count_words(path):
    words = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            words.update(PYTHON_PATTERN.findall(line.rstrip("\n")))
    return words


def merge_in(parts, pair):
    """The word's parts with every occurrence of the pair made one, from the left."""
    result, i = [], 0
    while i < len(parts):
        if i + 1 < len(parts) and (parts[i], parts[i + 1]) == pair:
            result.append(parts[i] + parts[i + 1])
            i += 2
        else:
            result.append(parts[i])
            i += 1
    return result


def learn_merges(words, count):
    """The `count` most frequent pairs, one after the other; of equals the one that sorts first."""
    symbols = byte_symbols()
    parts = [[symbols[byte] for byte in word.encode()] for word in words]
    weights = list(words.values())
    frequency, places = collections.Counter(), collections.defaultdict(set)
    for index, word in enumerate(parts):
        for pair in zip(word, word[1:]):
            frequency[pair] += weights[index]
            places[pair].add(index)
    heap = [(-number, pair) for pair, number in frequency.items()]
    heapq.heapify(heap)
    merges = []
    while heap and len(merges) < count:
        number, pair = heapq.heappop(heap)
        if frequency[pair] != -number or number == 0:
            continue  # out of date: a newer entry is in the heap
        merges.append(pair)
        changed = set()
        for index in places[pair]:
            for old in zip(parts[index], parts[index][1:]):
                frequency[old] -= weights[index]
                changed.add(old)
            parts[index] = merge_in(parts[index], pair)
            for new in zip(parts[index], parts[index][1:]):
                frequency[new] += weights[index]
                places[new].add(index)
                changed.add(new)
        for other in changed:
            if frequency[other] > 0:
                heapq.heappush(heap, (-frequency[other], other))
    return merges


def tokenizer_json(merges):
    tokens = SPECIAL_TOKENS + [byte_symbols()[byte] for byte in range(256)] + [left + right for left, right in merges]
    vocabulary = {token: index for index, token in enumerate(tokens)}
    assert len(vocabulary) == len(tokens), "two merges make the same token"
    begin = SPECIAL_TOKENS[1]
    special = {"SpecialToken": {"id": begin, "type_id": 0}}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": i, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
            for i, token in enumerate(SPECIAL_TOKENS)
        ],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated", "invert": False},
                {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
            ],
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [special, {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {begin: {"id": begin, "ids": [vocabulary[begin]], "tokens": [begin]}},
        },
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocabulary,
            "merges": [list(pair) for pair in merges],
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", required=True, help="UTF-8, one document a line")
    parser.add_argument("--vocabulary", type=int, default=2048, help="number of tokens, special ones and the 256 bytes included")
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()
    wanted = arguments.vocabulary - len(SPECIAL_TOKENS) - 256
    if wanted < 0:
        parser.error(f"--vocabulary must be at least {len(SPECIAL_TOKENS) + 256}")
    merges = learn_merges(count_words(arguments.text), wanted)
    if len(merges) < wanted:
        parser.error(f"the text gives {len(merges)} merges only, {wanted} are needed")
    with open(arguments.output, "w", encoding="utf-8") as file:
        json.dump(tokenizer_json(merges), file, ensure_ascii=False, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
