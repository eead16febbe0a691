#!/usr/bin/env bash
# Writes the pictures of the README: tests/tools/make_screenshots.sh [BIN_DIRECTORY [OUTPUT_DIRECTORY]]
# Synthetic runs, fixed clock, software OpenGL under Xvfb: the same pictures on every machine with the same fonts.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
bin="${1:-$root/build/release/bin}"
out="${2:-$root/assets/screenshots}"
mkdir -p "$out"
export LIBGL_ALWAYS_SOFTWARE=1 TZ=UTC
if [ -z "${RINGWRIGHT_IN_XVFB:-}" ]; then
  RINGWRIGHT_IN_XVFB=1 exec xvfb-run -a -s "-screen 0 1920x1200x24 -noreset" "$0" "$bin" "$out"
fi
for theme in dark light; do
  "$bin/ringwright-console" --screenshot "$out/watch-$theme.png" --view watch --demo 24 --theme "$theme" --scale 1 --size 1600x900
  "$bin/ringwright-console" --screenshot "$out/prepare-$theme.png" --view prepare --demo 24 --recipe "$root/assets/recipes/demo-sft-cp2.yaml" --theme "$theme" \
    --scale 1 --size 1600x900
done
for view in compare investigate; do
  "$bin/ringwright-console" --screenshot "$out/$view-dark.png" --view "$view" --demo 24 --theme dark --scale 1 --size 1600x900
done
"$bin/ringwright-console" --screenshot "$out/rollout-dark.png" --view rollout --demo 24 --run grpo-sums-cp2 --theme dark --scale 1 --size 1100x620
"$bin/ringwright-console" --screenshot "$out/alignment-light.png" --view alignment --demo 24 --run distill-other-tokens-cp2 --theme light --scale 1 --size 1100x520
"$bin/ringwright-console" --screenshot "$out/memory-dark.png" --view memory --demo 24 --run llama-1b-sft-cp8-long --theme dark --scale 1 --size 1100x620
ls -l "$out"
