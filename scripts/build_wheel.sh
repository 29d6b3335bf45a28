#!/usr/bin/env bash
# scripts/build_wheel.sh - wheels of the Python package with the programs in it: pip install gives salient-train, too.
#
#   scripts/build_wheel.sh [--cpu] [--build FOLDER] [--python PYTHON]... [--out FOLDER]
#     --cpu            no CUDA code, even where a toolkit is found
#     --build FOLDER   take the programs that are built there instead of building build/release
#     --python PYTHON  a wheel for this Python; python3. From 3.12 on for all later ones, too (stable ABI); 3.10 and
#                      3.11 need one each. The programs are the same in all wheels
#     --out FOLDER     default dist in the clone
#
# The wheel holds what the programs and the extension need of the distribution, and its OpenMPI 4 for machines without
# one. LibTorch is the torch that is installed beside it. PyPI's scikit-build-core and nanobind are fetched where that
# Python lacks them. The extension is compiled in FOLDER/python_package, where tests compile it, too.
set -euo pipefail
program=build_wheel
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

kind=auto folder='' pythons=() out=$root/dist
take_option() {
  case $1 in
    --cpu) kind=cpu ;;
    --build) folder=${2:-} words=2 ;;
    --python) pythons+=("${2:-}") words=2 ;;
    --out) out=${2:-} words=2 ;;
    *) return 1 ;;
  esac
}
read_options "$@"

use_cmake || die 66 "CMake 3.25 or later is missing; run scripts/setup.sh"
[ ${#pythons[@]} -gt 0 ] || pythons=(python3)
for python in "${pythons[@]}"; do
  "$python" -c 'import pip' 2>/dev/null || die 66 "$python has no pip; name another with --python"
done
check_tag
use_build "$folder" "$kind" packaged-programs
mkdir -p "$out" || die 74 "cannot write to $out"
out=$(cd "$out" && pwd -P)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

words=()
if [ -x /usr/bin/orterun ]; then
  words=(--with-mpi)
else
  say "without OpenMPI, of which only version 4 can be packed: the programs need that of the machine, libmpi.so.40"
fi
"$root/scripts/bundle.sh" --build "$folder" --out "$stage/programs" "${words[@]}" >/dev/null
for name in salient-bench salient-kernels; do rm -f "$stage/programs"/{bin,libexec}/$name; done
# LibTorch of this machine is none of another's.
for file in "$stage"/programs/libexec/*; do echo "file(RPATH_REMOVE FILE \"$file\")"; done >"$stage/remove.cmake"
cmake -P "$stage/remove.cmake" >/dev/null 2>&1 || die 70 "could not remove run paths"

# Licences of what was copied. No package for a library: it is this project's or the user's own.
mapfile -t copied < <(find "$stage/programs" -name 'lib*.so*' -printf '*/%f\n')
mkdir "$stage/programs/licenses"
dpkg -S "${copied[@]}" 2>/dev/null | sed 's/[:,].*//' | sort -u | while read -r package; do
  cp -L "/usr/share/doc/$package/copyright" "$stage/programs/licenses/$package" 2>/dev/null || true
done

cuda=OFF extension=$folder/python_package
if [ $kind != cpu ] && grep -q libtorch_cuda.so "$stage/programs/libexec/salient-train"; then
  cuda=ON extension=$folder/python_package_cuda
fi
for python in "${pythons[@]}"; do
  words=()
  if "$python" -c 'import scikit_build_core, nanobind' 2>/dev/null; then words+=(--no-build-isolation); fi
  "$python" -m pip --disable-pip-version-check wheel "$root" --no-deps --wheel-dir "$stage/wheel" "${words[@]}" \
    "--config-settings=build-dir=$extension" "--config-settings=cmake.define.SALIENT_CUDA=$cuda" \
    "--config-settings=cmake.define.SALIENT_PROGRAMS=$stage/programs" >"$stage/log" 2>&1 || {
    cat "$stage/log" >&2
    die 2 "pip could not make the wheel for $python; see the messages above"
  }
done
for file in "$stage"/wheel/*.whl; do
  mv "$file" "$out/"
  say "$out/${file##*/}, $(du -m "$out/${file##*/}" | cut -f 1) MB"
done
