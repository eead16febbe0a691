"""Times every attention method at every length, in turn and three times over: methods.py PROGRAM RANKS LENGTH..

Prints one JSON line. METHOD_LENGTH: the method's least wall time over the fastest method's. auto_LENGTH: the same of the method that `auto` takes, which
its own time stands for, since `auto` is a choice and no method. auto_most: the largest of these. chosen_LENGTH, fastest_LENGTH: names. crossover: from
which length on which method is the fastest.
"""
import json
import subprocess
import sys

METHODS = ("ring", "ranged", "all_gather", "all_to_all", "all_to_all+ring")
ROUNDS = 3


def output(program, *options):
    text = subprocess.run([program, *options], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(text.strip().splitlines()[-1])


def wall_s(program, ranks, method, tokens):
    repeats = "3" if int(tokens) <= 4096 else "1"
    return output(program, "--ranks", ranks, "--tokens", tokens, "--method", method, "--repeats", repeats)["wall_s"]


def chosen(program, ranks, tokens):
    return output(program, "--ranks", ranks, "--tokens", tokens, "--method", "auto", "--choose-only")["method"]


def crossover(fastest):
    """[(1024, "ring"), (2048, "ring"), (4096, "ranged")] -> "ring from 1,024, ranged from 4,096"."""
    changes = [(tokens, method) for i, (tokens, method) in enumerate(fastest) if i == 0 or fastest[i - 1][1] != method]
    return ", ".join(f"{method} from {int(tokens):,}" for tokens, method in changes)


def main(program, ranks, lengths):
    methods = [method for method in METHODS if int(ranks) > 2 or method != "all_to_all+ring"]  # a grid needs two axes
    result, fastest = {"job": "methods", "ranks": int(ranks), "auto_most": 0.0}, []
    for tokens in lengths:
        rounds = [{method: wall_s(program, ranks, method, tokens) for method in methods} for _ in range(ROUNDS)]
        least = {method: min(each[method] for each in rounds) for method in methods}
        best = min(least, key=least.get)
        fastest.append((tokens, best))
        choice = chosen(program, ranks, tokens)
        result.update({f"{method}_{tokens}": seconds / least[best] for method, seconds in least.items()})
        result.update({f"auto_{tokens}": least[choice] / least[best], f"chosen_{tokens}": choice, f"fastest_{tokens}": best})
        result["auto_most"] = max(result["auto_most"], result[f"auto_{tokens}"])
    result["crossover"] = crossover(fastest)
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
