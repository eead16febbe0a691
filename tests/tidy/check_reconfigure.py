"""A second configuration changes no command: nothing is compiled again by a second call of ./bootstrap.

check_reconfigure.py SOURCE BUILD: configures SOURCE twice in a temporary folder, with the settings of BUILD, and compares what compilers are told.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

KEPT = re.compile(r"^(RINGWRIGHT_\w+|CMAKE_BUILD_TYPE|CMAKE_CXX_COMPILER|CMAKE_CXX_COMPILER_LAUNCHER):\w+=(.*)$")
TOLD = re.compile(r"^  (FLAGS|INCLUDES|DEFINES|LINK_LIBRARIES|LINK_FLAGS) = ")


def settings(build):
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if match := KEPT.match(line):
            yield f"-D{match[1]}={match[2]}"


def configure(source, folder, options):
    subprocess.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", *options], check=True, stdout=subprocess.DEVNULL)
    lines = (folder / "build.ninja").read_text().splitlines()
    return [line for line in lines if TOLD.match(line)]


def main(source, build):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        first = configure(source, folder, list(settings(build)))
        second = configure(source, folder, [])
    differences = [f"- {a}\n+ {b}" for a, b in zip(first, second) if a != b]
    print(f"{len(first)} lines of the first configuration, {len(second)} of the second, {len(differences)} differ")
    for difference in differences[:3]:
        print(difference)
    return 1 if differences or len(first) != len(second) or not first else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
