"""The one driver of all benchmarks: prints every row as Markdown.

    tests/bench/run.sh [ROW..] [--pairs N] [--minutes M] [--json FILE] [--list]

A row that compares runs interleaved pairs (ours, theirs; then theirs, ours) on the same two cores, and shows the median of the pairs' ratios. A pair
starts only after two spinning processes have scaled at least 1.95 times, and counts only when they do so again right after it; the row waits for
such moments for M minutes (one spin alone: the fastest tenth of those seen, as a neighbour may slow a core at any moment). With too few such pairs
the figures of all pairs are shown, marked "busy", without a ratio, and the verdict is "machine busy". A bound of ours alone (a time, values a second) that holds
on a busy machine holds on a quiet one; a bound that was not reached is "not settled".
"""
import argparse
import functools
import json
import pathlib
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

import machine
from rows import ROWS


BUSY_PAIRS_MIN = 3
MACHINE_BUSY = "machine busy"


@dataclass
class Paths:
    source: pathlib.Path
    bin: pathlib.Path
    cache: pathlib.Path
    system_python: str = sys.executable

    @functools.cached_property
    def python(self):
        """The peers' Python; its environment is made when the first row needs it."""
        return subprocess.run([str(self.bench / "peers_environment.sh")], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    @property
    def tests(self):
        return self.bin / "tests"

    @property
    def bench(self):
        return self.source / "tests" / "bench"

    @property
    def peers(self):
        return self.bench / "peers"


@dataclass
class Result:
    row: object
    pairs: list          # (ours, peer or None), those on a quiet machine
    busy: list           # the same, on a busy one
    scalings: list
    error: str = ""


def measure(row, paths, pairs, scaling_min, minutes):
    missing = [name for name in row.needs if not (paths.bin / name).exists()]
    if missing:
        return Result(row, [], [], [], "not built: " + ", ".join(missing))
    result = Result(row, [], [], [])
    try:
        prepare = row.prepare(paths) if row.prepare else None
        if prepare:
            subprocess.run(prepare, check=True, stdout=subprocess.DEVNULL)
        collect_pairs(result, paths, pairs, scaling_min, deadline_s=time.monotonic() + 60 * minutes)
    except (machine.Failed, OSError, subprocess.CalledProcessError) as error:
        result.error = str(error)
    return result


def collect_pairs(result, paths, pairs, scaling_min, deadline_s):
    """Runs pairs at quiet moments until there are enough or the time is up; then as many as are needed for a median, quiet or not."""
    scaling = 0.0
    while len(result.pairs) < pairs and time.monotonic() < deadline_s:
        if scaling < scaling_min:
            scaling = machine.two_thread_scaling()
            result.scalings.append(scaling)
            continue
        pair = run_pair(result.row, paths, ours_first=(len(result.pairs) + len(result.busy)) % 2 == 0)
        scaling = machine.two_thread_scaling()
        result.scalings.append(scaling)
        (result.pairs if scaling >= scaling_min else result.busy).append(pair)
    while len(result.pairs) + len(result.busy) < BUSY_PAIRS_MIN:
        result.busy.append(run_pair(result.row, paths, ours_first=len(result.busy) % 2 == 0))


def run_pair(row, paths, ours_first):
    sides = {"ours": row.ours(paths)}
    if row.peer:
        sides["peer"] = row.peer(paths)
    order = ["ours", "peer"] if ours_first else ["peer", "ours"]
    outcome = {side: machine.run(sides[side], row.threads) for side in order if side in sides}
    return outcome["ours"], outcome.get("peer")


def number(value, unit=""):
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{text} {unit}".strip()


def figure_line(figure, result, pairs_wanted):
    """(ours, theirs, ratio, target, verdict) as texts."""
    quiet = len(result.pairs) >= pairs_wanted
    pairs = result.pairs if quiet else result.pairs + result.busy
    target = target_text(figure)
    if result.error or not pairs:
        return "-", "-", "-", target, result.error or "no run"
    missing = [key for key, side in ((figure.ours, 0), (figure.peer, 1)) if key and key not in pairs[0][side]]
    if missing:
        return "-", "-", "-", target, f"no {missing[0]} in the output"
    busy = figure.timed and not quiet
    mark = " (busy)" if busy else ""
    if figure.text:
        return statistics.mode(pair[0][figure.ours] for pair in pairs) + mark, "-", "-", target, "-"
    ours = statistics.median(pair[0][figure.ours] for pair in pairs) * figure.scale
    if not figure.peer:
        return number(ours, figure.unit) + mark, "-", "-", target, verdict_of(figure, ours, "not settled" if busy else "missed")
    theirs = statistics.median(pair[1][figure.peer] for pair in pairs) * figure.peer_scale
    if busy:
        return number(ours, figure.unit) + mark, number(theirs, figure.unit) + mark, "-", target, MACHINE_BUSY
    ratio = statistics.median(pair[0][figure.ours] / (pair[1][figure.peer] * figure.peer_scale) for pair in pairs)
    return number(ours, figure.unit), number(theirs, figure.unit), f"{ratio:.3f}", target, verdict_of(figure, ratio, "missed")


def verdict_of(figure, value, otherwise):
    if figure.at_most is None and figure.at_least is None:
        return "-"
    met = (figure.at_most is None or value <= figure.at_most) and (figure.at_least is None or value >= figure.at_least)
    return "met" if met else otherwise


def target_text(figure):
    unit = "" if figure.peer else figure.unit
    if figure.at_most is not None:
        return f"at most {number(figure.at_most, unit)}"
    if figure.at_least is not None:
        return f"at least {number(figure.at_least, unit)}"
    return "-"


def print_row(result, pairs_wanted):
    print(f"\n**{result.row.title}**", end="")
    if result.scalings:
        scaling = f"{min(result.scalings):.2f} to {max(result.scalings):.2f}"
        print(f" ({len(result.pairs)} of {len(result.pairs) + len(result.busy)} pairs on a quiet machine; two threads scaled {scaling} times)", end="")
    print("\n\n| figure | ours | theirs | ratio | target | verdict |\n| --- | --- | --- | --- | --- | --- |")
    for figure in result.row.figures:
        print(f"| {figure.name} | " + " | ".join(figure_line(figure, result, pairs_wanted)) + " |")
    sys.stdout.flush()


def parse_arguments():
    parser = argparse.ArgumentParser(description="Prints the benchmark tables.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows to run: " + ", ".join(row.name for row in ROWS) + " (default: all)")
    parser.add_argument("--pairs", type=int, default=5, help="pairs on a quiet machine that a ratio needs (at least 5)")
    parser.add_argument("--minutes", type=float, default=4, help="how long each row waits for quiet moments (default 4)")
    parser.add_argument("--json", type=pathlib.Path, help="also write every run's figures to this file")
    parser.add_argument("--list", action="store_true", help="name the rows and end")
    parser.add_argument("--source", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--cache", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    known = [row.name for row in ROWS]
    unknown = [name for name in arguments.rows if name not in known]
    if unknown:
        parser.error(f"no row is named {unknown[0]}; there are: {', '.join(known)}")
    if arguments.pairs < 5:
        parser.error("a ratio needs at least 5 pairs")
    return arguments


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what runs is ended, too
    arguments = parse_arguments()
    if arguments.list:
        for row in ROWS:
            print(f"{row.name:12} {row.title}")
        return 0
    paths = Paths(arguments.source, arguments.bin, arguments.cache)
    results = []
    for row in ROWS:
        if not arguments.rows or row.name in arguments.rows:
            results.append(measure(row, paths, arguments.pairs, machine.SCALING_MIN, arguments.minutes))
            print_row(results[-1], arguments.pairs)
    if arguments.json:
        arguments.json.write_text(json.dumps([{"row": r.row.name, "pairs": r.pairs, "busy_pairs": r.busy, "scalings": r.scalings, "error": r.error}
                                              for r in results], indent=1))
    return 1 if any(result.error for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
