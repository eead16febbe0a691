#!/usr/bin/env bash
# verify_checkpoints.sh [BIN]: does transformers load what Ringwright saves? BIN: the folder of the built programs.
# Makes the peers' environment in the cache when it is not there yet; RINGWRIGHT_PEER_PYTHON names another one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=${1:-build/release/bin}
python=${RINGWRIGHT_PEER_PYTHON:-$(tests/bench/peers_environment.sh)}
goldens=${RINGWRIGHT_GOLDENS:-tests/goldens}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for model in llama-base-untied llama-llama3rope-tied-sharded llama-linear-biased; do
  for expected in initial trained; do
    printf '\n%s, %s\n' "$model" "$expected"
    "$bin/tests/golden_models" "--save-$expected" "$model" "$scratch/$model-$expected"
    "$python" tests/tools/verify_checkpoint.py "$scratch/$model-$expected" "$goldens/models/$model" --expect "$expected"
  done
done

# The demo's checkpoint after a few steps at cp = 2; then one step from it over the text's first rows, whose loss is that of the checkpoint.
printf '\nthe demo\n'
export XDG_STATE_HOME="$scratch/state" XDG_RUNTIME_DIR="$scratch/runtime" XDG_CONFIG_HOME="$scratch/config"
mkdir -m 700 "$XDG_RUNTIME_DIR"
cp -r assets/models/demo "$scratch/model"
"$bin/ringwright-worker" --init "$scratch/model" --seed 1
text="$scratch/text.txt"
head -n 400 "${RINGWRIGHT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ringwright}/data/kjv.txt" >"$text"
common=("++data.train.data_path=$text" "++data.train.dataset_name=null" policy.max_total_sequence_length=256)
"$bin/ringwright" run --json assets/recipes/demo-sft-cp2.yaml "policy.model_name=$scratch/model" sft.max_num_steps=5 "${common[@]}" >"$scratch/first.jsonl"
checkpoint=$(echo "$XDG_STATE_HOME"/ringwright/runs/*/checkpoints/step_5/policy/weights)
"$bin/ringwright" run --json assets/recipes/demo-sft-cp1.yaml "policy.model_name=$checkpoint" sft.max_num_steps=1 data.shuffle=false \
  checkpointing.enabled=false "${common[@]}" >"$scratch/second.jsonl"
loss=$("$bin/ringwright" runs metrics demo-sft-cp1 -m train/loss --csv | tail -n 1 | cut -d, -f2)
"$python" tests/tools/verify_demo_loss.py "$checkpoint" "$text" 256 4 "$loss"
