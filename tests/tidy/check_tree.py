#!/usr/bin/env python3
"""House rules as a test: what includes what, how long files are, words that must not appear. usage: check_tree.py SOURCE_FOLDER"""
import fnmatch
import hashlib
import os
import re
import sys

ROOT = sys.argv[1]
CODE = (".cpp", ".h", ".cu", ".cuh")
TEXT = CODE + (".py", ".sh", ".cmake", ".txt", ".md", ".yaml", ".json", ".sql", "")
SKIPPED_FOLDERS = {"build", ".git", "__pycache__"}
SKIPPED_PATHS = {"tests/goldens", "tests/data"}
FILE_LINES_MAX = 700

# (folder the rule holds for, includes that it may not have, why)
INCLUDE_RULES = [
    ("shared", r"[<\"](daemon|console)/", "shared depends on nobody outside"),
    ("shared", r"[<\"](torch|ATen|c10|imgui|implot|GLFW)", "no LibTorch and no GUI in shared"),
    ("shared/base", r"\"shared/(?!base/)", "base depends on nothing else"),
    ("shared/fingerprint", r"\"shared/(?!base/|fingerprint/)", "a fingerprint knows no sockets and no store"),
    ("shared/doctor", r"\"shared/(wire|history)/", "doctor reads files, no socket and no store"),
    ("shared/mesh", r"\"shared/(?!base/|mesh/)", "mesh is pure topology"),
    ("shared/layout", r"\"shared/(?!base/|layout/)", "layout is pure index arithmetic"),
    ("shared/flow", r"\"shared/(?!base/|flow/)", "the path of a step is sizes and words"),
    ("shared/estimate", r"\"shared/(?!base/|estimate/|model/)", "an estimate is sizes of a model and a batch"),
    ("shared/recipe", r"<zmq|\"shared/(wire|history)/", "the recipe knows no sockets and no store"),
    ("shared/model", r"<zmq|\"shared/(wire|history)/", "model files know no sockets and no store"),
    ("shared/tokenizer", r"<zmq|\"shared/(wire|history)/", "the tokenizer knows no sockets and no store"),
    ("daemon", r"\"console/", "the daemon does not know its clients"),
    ("daemon", r"[<\"](imgui|implot|GLFW)", "no GUI in the daemon"),
    ("daemon/service", r"[<\"](torch|ATen|c10)/|\"daemon/worker/", "the daemon never links LibTorch"),
    ("console", r"\"daemon/", "the console speaks to the daemon over the wire"),
    ("console", r"[<\"](torch|ATen|c10)/", "LibTorch stays in the worker"),
    ("console/cli", r"[<\"](imgui|implot|GLFW)|\"console/gui/", "the CLI opens no window"),
]
# Spelled so that this file does not find itself.
WORDS = [
    (r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b", CODE, "unfinished work belongs into an issue"),
    (r"(?<![\w.])/(wo" r"rk|ro" r"ot|ho" r"me)/", TEXT, "a path of one machine"),
    (r"https?://[a-z.]*(py" r"pi|python" r"hosted|deb" r"ian)[a-z.]*", TEXT, "a registry's address"),
]

ROW_CODE = re.compile(r"\{(?:\.code = )?\"(RW-GUARD-\d+)\",")  # the first field of a row of the support matrix

# A test of two sizes (tests/deep_tier.h): its name, and the filters of the entries that run it at the larger one.
TEST_NAME = re.compile(r"^(?:TEST|TEST_F|TEST_P|RANK_TEST|MESH_TEST)\((\w+), (\w+)", re.MULTILINE)
DEEP_FILTER = re.compile(r"^\s*ringwright_deep_test\(\S+ \S+ ([^\s)]+)", re.MULTILINE)

faults = []
files_read = 0
row_places = {}


def fault(path, number, text):
    faults.append(f"{path}:{number}: {text}")


def check_includes(path, lines):
    for folder, pattern, why in INCLUDE_RULES:
        if not path.startswith(folder + "/"):
            continue
        for number, line in enumerate(lines, 1):
            if line.startswith("#include") and re.search(pattern, line):
                fault(path, number, f"{line.strip()}: {why}")


def check_words(path, extension, lines):
    for pattern, extensions, why in WORDS:
        if extension in extensions:
            for number, line in enumerate(lines, 1):
                if re.search(pattern, line):
                    fault(path, number, f"'{re.search(pattern, line).group(0)}': {why}")


def check_row_codes(path, lines):
    for number, line in enumerate(lines, 1):
        for code in ROW_CODE.findall(line):
            if code in row_places:
                fault(path, number, f"{code} is the code of the row at {row_places[code]}, too")
            row_places[code] = f"{path}:{number}"


def check_deep_entry(path, text):
    """A file with a size for the deep tier has a test that some entry of its folder runs there."""
    entries = os.path.join(ROOT, os.path.dirname(path), "CMakeLists.txt")
    filters = [word.split("/")[-1] for text_of in DEEP_FILTER.findall(open(entries, encoding="utf-8").read()) for word in text_of.strip('"').split(":")]
    names = [f"{suite}.{test}" for suite, test in TEST_NAME.findall(text)]
    if not any(fnmatch.fnmatchcase(name, word) for name in names for word in filters):
        fault(path, 1, "by_tier() has a larger size here, and no ringwright_deep_test of the folder runs a test of this file")


def check_corpora():
    """Each fuzzer starts from bytes that are good."""
    lines = open(os.path.join(ROOT, "tests/fuzz/CMakeLists.txt"), encoding="utf-8").read()
    for name in re.findall(r"^ringwright_fuzzer\((\w+)", lines, re.MULTILINE):
        corpus = os.path.join(ROOT, "tests/fuzz/corpus", name)
        if not os.path.isdir(corpus) or not os.listdir(corpus):
            fault("tests/fuzz/CMakeLists.txt", 1, f"{name} has no corpus in tests/fuzz/corpus/{name}")


def check_file(path):
    global files_read
    extension = os.path.splitext(path)[1]
    if extension not in TEXT:
        return
    try:
        lines = open(os.path.join(ROOT, path), encoding="utf-8").read().split("\n")
    except UnicodeDecodeError:
        return
    files_read += 1
    if extension in CODE:
        check_includes(path, lines)
        if extension == ".cpp" and path.startswith("tests/") and "by_tier" in "\n".join(lines):
            check_deep_entry(path, "\n".join(lines))
        if path.startswith("shared/support_matrix/"):
            check_row_codes(path, lines)
        if len(lines) > FILE_LINES_MAX:
            fault(path, len(lines), f"more than {FILE_LINES_MAX} lines")
        for number, line in enumerate(lines, 1):
            if line != line.rstrip() or "\t" in line:
                fault(path, number, "trailing space or tab")
    check_words(path, extension, lines)


def check_curves():
    """Kept losses change with a line in the changelog only: it names the digest of each file."""
    changelog = open(os.path.join(ROOT, "CHANGELOG.md"), encoding="utf-8").read()
    folder = os.path.join(ROOT, "tests/parity")
    curves = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    if not curves:
        fault("tests/parity", 1, "no curve is kept")
    for name in curves:
        digest = hashlib.sha256(open(os.path.join(folder, name), "rb").read()).hexdigest()[:10]
        if digest not in changelog:
            fault(f"tests/parity/{name}", 1, f"the losses changed: say why in CHANGELOG.md, with `{digest}`")


check_curves()
for folder, folders, names in os.walk(ROOT):
    here = os.path.relpath(folder, ROOT)
    folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS and os.path.normpath(os.path.join(here, name)) not in SKIPPED_PATHS)
    for name in sorted(names):
        check_file(os.path.relpath(os.path.join(folder, name), ROOT))

check_corpora()
print("\n".join(faults))
print(f"{files_read} files read")
print(f"{0 if faults else 1} passed, {len(faults)} failed")
sys.exit(bool(faults) or files_read < 50)
