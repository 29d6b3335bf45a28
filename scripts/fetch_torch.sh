#!/usr/bin/env bash
# scripts/fetch_torch.sh - LibTorch for installed programs, into the user's cache; as salient-fetch-torch in a package.
#
#   salient-fetch-torch        0.5 GB from PyPI, once; needs Python 3 with pip, and unzip
#
# The programs find it there. Instead of this, SALIENT_TORCH_DIR may name the folder torch/ of PyPI's package torch, of
# the same version. XDG_CACHE_HOME moves the cache.
set -euo pipefail
program=fetch_torch
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib/common.sh"
. "$root/scripts/lib/wheels.sh"

take_option() { return 1; }
read_options "$@"

variant=cpu nvcc=''
if grep -q libtorch_cuda.so "$root/libexec/salient-train" 2>/dev/null; then
  choose_variant auto  # for the toolkit's folder
  variant=cu130
fi
command -v unzip >/dev/null || die 66 "unzip is not installed: apt-get install unzip"
make_cache
install_torch
say "ready: $(torch_folder)/torch"
