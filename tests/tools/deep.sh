#!/usr/bin/env bash
# deep.sh: what `./bootstrap test --deep` runs after the usual tests. Each part prints its figures; the first failure ends it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly fuzz_seconds=${RINGWRIGHT_FUZZ_SECONDS:-60}

part() { printf '\n\033[1m==> %s\033[0m\n' "$*"; }

build_and_test() {
  cmake --preset "$1" >"build/.configure-$1.log" 2>&1 || { cat "build/.configure-$1.log" >&2; return 1; }
  cmake --build --preset "$1" -- --quiet
  ctest --preset "$1"
}

part "Benchmark programs, which the tests do not build"
cmake --build --preset release --target benches -- --quiet

part "Long tests (label deep)"
ctest --test-dir build/release --output-on-failure -L deep

part "AddressSanitizer and UBSan, worker included"
build_and_test asan

part "ThreadSanitizer, the parts without LibTorch"
build_and_test tsan

part "Fuzzing, $fuzz_seconds s each"
cmake --preset fuzz >build/.configure-fuzz.log 2>&1 || { cat build/.configure-fuzz.log >&2; exit 1; }
cmake --build --preset fuzz -- --quiet
for fuzzer in build/fuzz/bin/fuzz/*; do
  corpus=$(mktemp -d)
  printf '%s: ' "$(basename "$fuzzer")"
  seeds="tests/fuzz/corpus/$(basename "$fuzzer")"
  "$fuzzer" -max_total_time="$fuzz_seconds" -rss_limit_mb=2048 -print_final_stats=1 "$corpus" $([ -d "$seeds" ] && echo "$seeds") >"$corpus/log" 2>&1 ||
    { tail -40 "$corpus/log"; exit 1; }
  grep -o 'stat::number_of_executed_units: *[0-9]*' "$corpus/log"
  rm -rf "$corpus"
done

part "Checkpoints, ids and event files as transformers, tokenizers and TensorBoard see them"
python=$(tests/bench/peers_environment.sh)
RINGWRIGHT_PEER_PYTHON=$python tests/tools/verify_checkpoints.sh build/release/bin
tests/tools/verify_demo.sh build/release/bin "$python"
"$python" tests/tools/verify_tensorboard.py build/release/bin
"$python" tests/tools/compare_tokenizer.py --program build/release/bin/tests/encode_text --tokenizer assets/models/demo/tokenizer.json \
  --text "${RINGWRIGHT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ringwright}/data/kjv.txt" --lines 1000
