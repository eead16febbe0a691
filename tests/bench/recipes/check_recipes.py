"""How long `ringwright check` takes for many recipes in one call; prints JSON.

    check_recipes.py RINGWRIGHT [--recipes N] [--seed S] [--repeats R]
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from make_recipes import make_recipes

RAN, REFUSED = 0, 3  # exit codes of a check that looked at every recipe


def check(program, recipes, home):
    """(wall seconds, CPU seconds, exit code, the findings)."""
    environment = {**os.environ, "HOME": home, "XDG_CACHE_HOME": home, "HF_HOME": home}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([program, "check", "--json", *recipes], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    wall_s, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (RAN, REFUSED):
        sys.exit(f"check ended with {done.returncode}: {done.stderr.decode()[:2000]}")
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ringwright")
    parser.add_argument("--recipes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        recipes = make_recipes(folder, arguments.recipes, arguments.seed)
        files = sum(len(names) for _, _, names in os.walk(folder))
        runs = [check(arguments.ringwright, recipes, folder) for _ in range(arguments.repeats)]
    reports = runs[0][2]
    if len(reports) != arguments.recipes:
        sys.exit(f"{len(reports)} reports for {arguments.recipes} recipes")
    unknown = [warning["key"] for report in reports for warning in report["warnings"] if warning["code"] == "RW-RECIPE-101"]
    if unknown:
        sys.exit("keys that are not known: " + ", ".join(sorted(set(unknown))))
    print(json.dumps({"wall_s": statistics.median(run[0] for run in runs), "cpu_s": statistics.median(run[1] for run in runs),
                      "recipes": len(reports), "files": files, "findings": sum(len(report["findings"]) for report in reports),
                      "run_here": sum(report["runs"] for report in reports)}))


main()
