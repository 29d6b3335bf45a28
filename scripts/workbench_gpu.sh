#!/usr/bin/env bash
# scripts/workbench_gpu.sh - the kernel workbench on a GPU: builds salient-kernels alone, tests it, times start kernels.
#
#   scripts/workbench_gpu.sh [OUT_DIR]     needs nvcc, a driver and a GPU; takes a few minutes. OUT_DIR gets the tables.
set -euo pipefail
program=workbench_gpu
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

out=${1:-$root/runs/kernels/gpu}
build=$root/build/workbench
mkdir -p "$out"
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSALIENT_TORCH=OFF -DSALIENT_CUDA=OFF \
  >"$out/configure.log"
ninja -C "$build" salient-kernels >"$out/build.log"
kernels=$build/bin/salient-kernels
status=0
python3 "$root/tests/workbench/cuda_backend_gpu_test.py" "$kernels" "$root" | tee "$out/gpu_test.txt" || status=1
for case in "$root"/workbench/cases/*.case; do
  name=$(basename "$case" .case)
  # The start kernel beside itself: NOISE is the verdict to expect, its times are what a candidate has to beat.
  "$kernels" bench "$name" "$root/workbench/cases/kernels/$name.cu" --backend cuda || true
done | tee "$out/start_kernels.txt"
exit "$status"
