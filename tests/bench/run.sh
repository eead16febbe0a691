#!/usr/bin/env bash
# Prints the benchmark tables: tests/bench/run.sh [ROW..] [--pairs N] [--minutes M] [--json FILE] [--list]. Needs a release build (./bootstrap bench makes one).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
cache="${RINGWRIGHT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ringwright}"
mkdir -p "$cache/bench"
PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$here/driver.py" --source "$source" --bin "${RINGWRIGHT_BIN:-$source/build/release/bin}" \
  --cache "$cache" "$@"
