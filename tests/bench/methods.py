"""Times every attention method at every length, in turn and three times over: methods.py PROGRAM LENGTH..

Prints one JSON line: METHOD_LENGTH is the method's least wall time over the fastest method's, for `auto` too.
"""
import json
import subprocess
import sys

METHODS = ("ring", "all_gather", "ranged", "all_to_all", "auto")
ROUNDS = 3


def wall_s(program, method, tokens):
    command = [program, "--ranks", "2", "--tokens", tokens, "--method", method, "--repeats", "3" if int(tokens) <= 4096 else "1"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output.strip().splitlines()[-1])["wall_s"]


def main(program, lengths):
    result = {"job": "methods"}
    for tokens in lengths:
        rounds = [{method: wall_s(program, method, tokens) for method in METHODS} for _ in range(ROUNDS)]
        least = {method: min(each[method] for each in rounds) for method in METHODS}
        fastest = min(seconds for method, seconds in least.items() if method != "auto")
        result.update({f"{method}_{tokens}": seconds / fastest for method, seconds in least.items()})
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
