#!/usr/bin/env bash
# demo.sh BIN_FOLDER: writes the demo model's weights, trains it at cp=2, and says what to look at next.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly bin=$(realpath "$1")
readonly cache="${RINGWRIGHT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ringwright}"
readonly model="$cache/models/demo"

if [ ! -s "$model/model.safetensors" ]; then
  mkdir -p "$model"
  cp assets/models/demo/* "$model/"
  "$bin/ringwright-worker" --init "$model" --seed 1
fi
"$bin/ringwright" run assets/recipes/demo-sft-cp2.yaml
cat <<TXT

Next:
  the same run without context parallelism, then both losses side by side
    ${bin#"$PWD"/}/ringwright run assets/recipes/demo-sft-cp1.yaml
    ${bin#"$PWD"/}/ringwright runs compare demo-sft-cp1 demo-sft-cp2
  how the tokens were sharded
    ${bin#"$PWD"/}/ringwright layout assets/recipes/demo-sft-cp2.yaml
  the console
    ${bin#"$PWD"/}/ringwright-console
TXT
