#!/usr/bin/env python3
"""Does ./bootstrap install all that a build and its tests use? Every header that a compiler read, every library that was linked, every font and every
program that the scripts call must belong to a package of its list, or to one that such a package depends on: then a bare machine has it too.
usage: check_packages.py SOURCE_FOLDER BUILD_FOLDER (of Ninja). Exits 77, with the reason, where dpkg or a build is missing."""
import os
import re
import shutil
import subprocess
import sys

SOURCE, BUILD = sys.argv[1:]
LISTS = ["packages_build"]
# What is there before ./bootstrap starts: Debian's essential packages, and what they depend on.
PROGRAMS = ["bash", "bible", "cmake", "ctest", "flock", "g++", "git", "ninja", "pkg-config", "python3", "tar", "xauth", "xvfb-run", "Xvfb"]
LINES_A_CALL = 400


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def output(*command, check=True):
    return subprocess.run(command, check=check, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def listed_packages():
    text = open(os.path.join(SOURCE, "bootstrap"), encoding="utf-8").read()
    return [name for variable in LISTS for name in re.search(variable + r"=\(([^)]*)\)", text).group(1).split()]


def installed_packages():
    """Name -> (names that it depends on, whether it is essential); what a package provides leads to the package."""
    packages, provided = {}, {}
    rows = output("dpkg-query", "-W", "-f=${Package}\t${Essential}\t${Pre-Depends}, ${Depends}\t${Provides}\n")
    for name, essential, depends, provides in (row.split("\t") for row in rows.splitlines()):
        names = {re.split(r"[ (:]", part.strip())[0] for part in re.split(r"[,|]", depends)}
        packages[name] = (names - {""}, essential == "yes")
        for part in provides.split(","):
            provided.setdefault(part.strip().split(" ")[0], set()).add(name)
    return packages, provided


def reachable(roots, packages, provided):
    found, waiting = set(), list(roots)
    while waiting:
        name = waiting.pop()
        for real in ({name} & packages.keys()) | provided.get(name, set()):
            if real not in found:
                found.add(real)
                waiting += packages[real][0]
    return found


def used_files():
    headers = re.findall(r"^ +(/usr/\S+)", output("ninja", "-C", BUILD, "-t", "deps"), re.M)
    libraries = re.findall(r"(/usr/lib/\S+\.(?:so|a)[.0-9]*)(?=\s|$)", open(os.path.join(BUILD, "build.ninja"), encoding="utf-8").read())
    fonts = re.findall(r"^RINGWRIGHT_FONT_\w+:FILEPATH=(/usr/\S+)", open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8").read(), re.M)
    programs = {name: shutil.which(name, path="/usr/bin:/bin:/usr/games") for name in PROGRAMS}
    for name, path in programs.items():
        if path is None:
            sys.exit(f"the program {name} was not found")
    return set(headers), set(libraries) | set(fonts) | set(programs.values())


def owners(files):
    """File -> packages. /usr/lib may be written /lib in dpkg's lists, and a link belongs to the package of its target where alternatives made it."""
    forms = {}
    for file in files:
        for path in {file, os.path.realpath(file)}:
            forms[path] = file
            if path.startswith("/usr/lib/") or path.startswith("/usr/bin/"):
                forms[path[4:]] = file
    found, paths = {}, sorted(forms)
    for start in range(0, len(paths), LINES_A_CALL):
        for row in output("dpkg-query", "-S", *paths[start:start + LINES_A_CALL], check=False).splitlines():
            names, _, path = row.partition(": ")
            if path in forms and not names.startswith("diversion"):
                found.setdefault(forms[path], set()).update(name.strip().split(":")[0] for name in names.split(","))
    return found


def main():
    if shutil.which("dpkg-query") is None:
        skip("no dpkg here")
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        skip(f"no build of Ninja in {BUILD}")
    packages, provided = installed_packages()
    absent = [name for name in listed_packages() if name not in packages]
    if absent:
        skip(f"not installed here: {' '.join(absent)}")
    allowed = reachable(listed_packages() + [name for name, (_, essential) in packages.items() if essential], packages, provided)
    headers, others = used_files()
    found = owners(headers | others)
    faults = [f"{file}: of {', '.join(sorted(names))}, which ./bootstrap does not install" for file, names in sorted(found.items()) if not names & allowed]
    faults += [f"{file}: of no package" for file in sorted((headers | others) - found.keys()) if not file.startswith("/usr/local/")]
    print("\n".join(faults))
    print(f"{len(headers)} headers and {len(others)} libraries, fonts and programs from {len(set().union(*found.values()))} packages: {len(faults)} faults")
    sys.exit(1 if faults else 0)


main()
