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

for model in llama-base-untied llama-llama3rope-tied-sharded llama-linear-biased qwen2-sliding-untied qwen2-yarn-tied; do
  for expected in initial trained; do
    printf '\n%s, %s\n' "$model" "$expected"
    "$bin/tests/golden_models" "--save-$expected" "$model" "$scratch/$model-$expected"
    "$python" tests/tools/verify_checkpoint.py "$scratch/$model-$expected" "$goldens/models/$model" --expect "$expected"
  done
done
