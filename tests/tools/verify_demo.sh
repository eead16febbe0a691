#!/usr/bin/env bash
# verify_demo.sh BIN_FOLDER PEER_PYTHON: trains the demo at cp=2 for a few steps, then lets transformers load the checkpoint and compute the loss
# that Ringwright reported for held-out text.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=$(realpath "$1")
python=$2
cache=${RINGWRIGHT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ringwright}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_STATE_HOME="$scratch/state" XDG_RUNTIME_DIR="$scratch/run" XDG_CONFIG_HOME="$scratch/config"
mkdir -p -m 700 "$XDG_RUNTIME_DIR"

mkdir "$scratch/model"
cp assets/models/demo/* "$scratch/model/"
"$bin/ringwright-worker" --init "$scratch/model" --seed 1
tail -n 200 "$cache/data/kjv.txt" >"$scratch/held-out.txt"
"$bin/ringwright" run assets/recipes/demo-sft-cp2.yaml policy.model_name="$scratch/model" sft.max_num_steps=8 sft.val_period=8 sft.val_batches=1 \
  data.validation="{data_path: $scratch/held-out.txt}" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
loss=$("$bin/ringwright" runs metrics last --metric validation/val_loss --json |
  "$python" -c 'import json, sys; print(json.dumps(json.load(sys.stdin)))' | grep -oE '"value": [0-9.e+-]+' | tail -1 | cut -d' ' -f2)
"$python" tests/tools/verify_demo.py "$XDG_STATE_HOME"/ringwright/runs/*/checkpoints/step_8/policy/weights "$scratch/held-out.txt" 4 512 "$loss"
