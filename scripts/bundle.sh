#!/usr/bin/env bash
# scripts/bundle.sh - a folder with the programs and those libraries that cluster nodes may lack.
#
#   scripts/bundle.sh [--out FOLDER] [--build FOLDER] [--tests LABEL]... [--benchmarks] [--with-mpi] [--cpu]
#                     [--workbench]
#     --out FOLDER     default dist/salient in the clone; replaced
#     --build FOLDER   take the programs from this build folder instead of building build/release
#     --tests LABEL    the test programs with this label too (gpu, mpi, ...), into tests/
#     --benchmarks     operators_bench too, and in benchmarks/ the scripts that run the benchmarks of a GPU
#     --workbench      salient-kernels with its cases, prompts, attacks and CuTe's headers, and no other program;
#                      scripts/workbench_gpu.sh in it needs nvcc, a driver and a GPU. Kernels in Python are in it as
#                      their compilers made them here, where scripts/setup.sh --languages fetched those
#     --with-mpi       OpenMPI 4 too, for nodes without it (shared memory and TCP only); bin/mpirun starts it
#
# Not in it, and expected on the node: LibTorch (the PyPI package torch, anywhere), CUDA, OpenMPI 4 or 5, glibc and
# libstdc++ no older than here. bin/salient-env finds LibTorch and starts the rest: see scripts/lib/salient-env.sh.
set -euo pipefail
program=bundle
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$root/scripts/lib/openmpi.sh"

kind=auto with_mpi=no is_workbench=no with_benchmarks=no out=$root/dist/salient folder='' labels=()
take_option() {
  case $1 in
    --out) out=${2:-} words=2 ;;
    --build) folder=${2:-} words=2 ;;
    --tests) labels+=("${2:-}") words=2 ;;
    --benchmarks) with_benchmarks=yes ;;
    --with-mpi) with_mpi=yes ;;
    --cpu) kind=cpu ;;
    --workbench) is_workbench=yes ;;
    *) return 1 ;;
  esac
}
read_options "$@"

use_cmake || die 66 "CMake 3.25 or later is missing; run scripts/setup.sh"
if [ -z "$folder" ] && [ $is_workbench = yes ]; then
  folder=$root/build/workbench
  mkdir -p "$folder"
  cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSALIENT_TORCH=OFF -DSALIENT_CUDA=OFF \
    >"$folder/configure.log" || die 2 "CMake could not configure build/workbench; see $folder/configure.log"
  cmake --build "$folder" --parallel "$(build_jobs)" --target salient-kernels || die 2 "the build failed"
fi
use_build "$folder" "$kind"

# test_programs LABEL: paths of the programs and scripts that its tests start, one a line.
test_programs() {
  ctest --test-dir "$folder" -L "^$1\$" --show-only=json-v1 | python3 -c '
import json, os, sys
tests = json.load(sys.stdin)["tests"]
build, scripts = sys.argv[1:]
is_program = lambda w: w.startswith(build) and os.path.isfile(w) and os.access(w, os.X_OK)
ours = lambda w: is_program(w) or w.startswith(scripts) and w.endswith(".py")
print("\n".join(sorted({word for t in tests for word in t.get("command", []) if ours(word)})))' \
    "$folder/" "$root/tests/"
}

# Found on every node (glibc, the compiler's run time), or installed there with the driver, CUDA, LibTorch or MPI.
readonly c_library='ld-linux.*|linux-vdso|libc|libm|libdl|librt|libpthread|libutil|libresolv'
readonly compiler="$c_library|libstdc\\+\\+|libgcc_s|libgomp"
readonly cuda='libcuda|libcudart|libnccl|libcublas|libcublasLt|libcupti|libnvrtc|libtorch[a-z_]*|libc10[a-z_]*'
readonly mpi='libmpi|libopen-rte|libopen-pal'
of_the_node="^($compiler|$cuda|$mpi)\\." libraries=$out/lib

# copy_libraries FILE: into `libraries` what FILE needs by name, and what that needs, unless it is the node's.
copy_libraries() {
  local name path
  while read -r name; do
    [[ $name =~ $of_the_node || -e $out/lib/$name || -e $libraries/$name ]] && continue
    path=$(ldd "$1" | awk -v name="$name" '$1 == name { print $3 }')
    [ -e "$path" ] || die 66 "${1##*/} needs $name, which is not on this machine; run scripts/setup.sh"
    cp -L "$path" "$libraries/$name"
    copy_libraries "$path"
  done < <(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
}

[ ! -e "$out" ] || [ -e "$out/bin/salient-env" ] ||
  die 2 "$out exists and is no bundle; name another folder with --out"
rm -rf "$out"
mkdir -p "$out"/bin "$out"/lib "$out"/libexec || die 74 "cannot write to $out"
cp "$root/scripts/lib/salient-env.sh" "$out/bin/salient-env"
shopt -s nullglob
programs=("$folder"/bin/*)
if [ $is_workbench = yes ]; then programs=("$folder/bin/salient-kernels"); fi
if [ $with_benchmarks = yes ]; then
  [ -x "$folder/benchmarks/operators_bench" ] || die 66 "operators_bench is not built; cmake --build $folder"
  programs+=("$folder/benchmarks/operators_bench")
  mkdir -p "$out/benchmarks"
  cp "$root"/benchmarks/{repeat.sh,compare_builds.py,pyg_loader.py} "$root/scripts/load_serve.py" "$out/benchmarks/"
fi
for file in "${programs[@]}"; do
  cp "$file" "$out/libexec/"
  cp "$out/bin/salient-env" "$out/bin/${file##*/}"
  copy_libraries "$file"
done
for label in "${labels[@]}"; do
  mkdir -p "$out/tests"
  while read -r file; do
    [ -n "$file" ] || continue
    cp "$file" "$out/tests/"
    [[ $file = *.py ]] || copy_libraries "$file"
  done < <(test_programs "$label")
  cp "$root"/tests/support/{job,npy,programs}.py "$out/tests/"  # what the scripts import
done
# lower_kernels: kernels and attacks in Python as an H200's compilers make them, for a node without those compilers.
lower_kernels() {
  local file name languages=${SALIENT_KERNEL_LANGUAGES:-$cache/kernel-languages}
  [ -x "$languages/bin/python3" ] || { say "kernels in Python are compiled on the node" && return; }
  mkdir -p "$out/share/kernel-languages/bin"
  cp -L "$languages/bin/nvdisasm" "$out/share/kernel-languages/bin/"  # the node judges what was compiled here
  for file in "$out"/share/workbench/cases/kernels/*.py "$out"/tests/cuda_fixtures/*.py; do
    name=$(sed -n 's/^# expect .* case \([a-z0-9_]*\).*/\1/p' "$file")
    name=${name:-$(basename "$file" | cut -d . -f 1)}
    "$out/bin/salient-kernels" lower "$name" "$file" --architecture sm_90a --lowered "$out/share/lowered" \
      --python "$languages/bin/python3" --nvdisasm "$languages/bin/nvdisasm" --workbench-dir "$out/share/workbench" ||
      true  # attacks are refused
  done
}

if [ $is_workbench = yes ]; then
  mkdir -p "$out/share/workbench" "$out/scripts" "$out/tests"
  cp -r "$root"/workbench/{adapters,attacks,cases,prompts,python,suites} "$out/share/workbench/"
  cp -r "$root"/tests/workbench/{cuda_fixtures,strangers,cuda_backend_gpu_test.py} "$out/tests/"
  cp "$root"/scripts/workbench_{gpu.sh,baselines.py} "$out/scripts/"
  if [ -d "$cache/cute/cute" ]; then
    tar -C "$cache" -czf "$out/share/cute.tar.gz" cute  # 3 MB instead of 27; workbench_gpu.sh unpacks it
  else
    say "without CuTe's headers: scripts/setup.sh --workbench fetches them"
  fi
  lower_kernels
fi
if [ $with_mpi = yes ]; then
  of_the_node="^($compiler|$cuda)\\." libraries=$out/lib/mpi  # apart: where the node has an OpenMPI, that one serves
  mkdir "$libraries"
  copy_openmpi "$out"
  for file in "$out"/libexec/*; do copy_libraries "$file"; done
  cp "$out/bin/salient-env" "$out/bin/mpirun"
fi
find "$out" -type f -exec strip --strip-unneeded {} + 2>/dev/null || true
[ $is_workbench = no ] || example="scripts/workbench_gpu.sh"
say "$(du -sm "$out" | cut -f 1) MB in $out; on a node: FOLDER/${example:-bin/salient-train ...}"
