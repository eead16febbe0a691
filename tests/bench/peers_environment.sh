#!/usr/bin/env bash
# Makes the Python environment that Ringwright is compared with, in the cache, once; prints the path of its python.
set -euo pipefail
readonly cache="${RINGWRIGHT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ringwright}"
readonly folder="$cache/peers-torch-2.11.0"
readonly packages=(torch==2.11.0 transformers==5.24.0 tokenizers==0.23.3 safetensors==0.8.0 numpy==2.4.6 axolotl-ringmaster==0.2.7 tensorboard==2.21.0)

complete() {
  local package name
  [ -x "$folder/bin/python" ] || return 1
  for package in "${packages[@]}"; do
    name=${package/==/-}
    compgen -G "$folder/lib/python3*/site-packages/${name//axolotl-ringmaster/axolotl_ringmaster}.dist-info" >/dev/null || return 1
  done
}

if ! complete; then
  mkdir -p "$cache"
  exec 9>"$cache/.lock"
  flock 9
  if ! complete; then
    echo "==> Making the peers' Python environment in $folder (some 5 GB)" >&2
    /usr/bin/python3 -m venv "$folder" >&2 || { echo "bench: error: no environment could be made: is python3-venv installed, the disk full?" >&2; exit 1; }
    "$folder/bin/python" -m pip install -q --disable-pip-version-check --no-cache-dir "${packages[@]}" >&2 ||
      { echo "bench: error: the peers' packages could not be installed (see above); call again to go on" >&2; exit 1; }
  fi
  exec 9>&-
fi
echo "$folder/bin/python"
