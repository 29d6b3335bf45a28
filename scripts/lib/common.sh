# scripts/lib/common.sh - what all scripts share: messages, options, folders, the choice of CPU or CUDA, the build.
# shellcheck shell=bash
#
# Source it with `program` set to the name that messages begin with. Exit codes are the programs' own:
# 2 usage or unsupported machine, 66 something is missing, 74 disk full or write failed, 75 no network.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
readonly root

say() { printf '%s: %s\n' "$program" "$*"; }

# die CODE TEXT...: one line on standard error, and the end.
die() {
  local code=$1
  shift
  printf '%s: error: %s\n' "$program" "$*" >&2
  exit "$code"
}

# read_options ARGUMENT...: calls take_option of the script with what is left of the arguments, as often as needed.
# take_option fails for an option that it does not know, and sets words=2 for one with a value, which is "$2".
# --help prints the comment at the head of the script.
read_options() {
  local words
  while [ $# -gt 0 ]; do
    if [ "$1" = -h ] || [ "$1" = --help ]; then
      sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
      exit 0
    fi
    words=1
    take_option "$@" || die 2 "unknown option $1; see $0 --help"
    [ $# -ge "$words" ] || die 2 "$1 needs a value; see $0 --help"
    [ "$words" -eq 1 ] || [ -n "$2" ] || die 2 "$1 cannot be empty; see $0 --help"  # as of --out "$UNSET"
    shift "$words"
  done
}

HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d : -f 6)}  # not set in every CI
export HOME
cache_root=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
[ -n "$cache_root" ] || die 2 "neither HOME nor XDG_CACHE_HOME is set; set one, LibTorch goes there"
cache=$cache_root/salient  # CMake looks here too: cmake/TorchWheel.cmake
readonly cache

readonly torch_version=2.11.0 cuda_major=13
readonly cmake_version=3.31.6  # is fetched where the system's CMake is older than 3.25

# make_cache: the cache folder exists and can be written.
make_cache() {
  mkdir -p "$cache/wheels" 2>/dev/null && [ -w "$cache" ] ||
    die 74 "cannot write to $cache; free space there, or set XDG_CACHE_HOME to another folder"
}

# need_space FOLDER MB WHAT: stops in one line when the file system of FOLDER has less room.
need_space() {
  local free
  free=$(df -Pm -- "$1" | awk 'NR == 2 { print $4 }')
  [ "$free" -ge "$2" ] || die 74 "$3 needs $2 MB in $1, and $free MB are free; make room${4:-}"
}

# choose_variant cpu|auto: sets variant (cpu | cu130), nvcc and why. A toolkit of another major version than LibTorch's
# gives a CPU build.
choose_variant() {
  variant=cpu nvcc='' why='as asked'
  [ "$1" = auto ] || return 0
  local candidate on_path
  on_path=$(command -v nvcc || true)
  for candidate in "${CUDACXX:-}" "$on_path" "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" /usr/local/cuda/bin/nvcc; do
    if [ -n "$candidate" ] && [ -x "$candidate" ]; then
      nvcc=$candidate
      break
    fi
  done
  if [ -z "$nvcc" ]; then
    why='no CUDA toolkit on this machine'
    return 0
  fi
  local release
  release=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
  if [ "${release%%.*}" = "$cuda_major" ]; then
    variant=cu130 why="toolkit $release in ${nvcc%/bin/nvcc}"
  else
    why="toolkit ${release:-of unknown version} in ${nvcc%/bin/nvcc}, but LibTorch $torch_version needs $cuda_major.x"
    nvcc=''
  fi
}

torch_folder() { printf '%s/libtorch-%s-%s' "$cache" "$torch_version" "$variant"; }

# version_at_least HAVE WANT
version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# use_cmake: puts a CMake of at least 3.25 first on PATH: the system's, else the cached one. False when there is none.
use_cmake() {
  local have
  have=$(cmake --version 2>/dev/null | sed -n '1s/cmake version //p')
  if [ -n "$have" ] && version_at_least "$have" 3.25; then return 0; fi
  [ -x "$cache/cmake-$cmake_version/cmake/data/bin/cmake" ] || return 1
  PATH=$cache/cmake-$cmake_version/cmake/data/bin:$PATH
}

# check_fuzz_compiler: stops unless the compiler of the fuzz targets is there; first, not after an hour of tests.
check_fuzz_compiler() {
  command -v clang++ >/dev/null || die 66 "libFuzzer needs clang, which is not installed: apt-get install clang"
}

# build_jobs: one per core, fewer where memory is short (a file that includes LibTorch takes up to 1.5 GB).
build_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ { print int($2 / 1500000) }' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# configure PRESET [-D...]: CMake's output goes to a log, which is shown when it fails.
configure() {
  local preset=$1
  shift
  local folder=$root/build/$preset
  if [ -f "$folder/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    rm -rf "$folder"  # the clone has moved
  fi
  mkdir -p "$folder" 2>/dev/null || die 74 "cannot write to $folder"
  need_space "$folder" 1000 "the build"
  local arguments=(-DSALIENT_CUDA=OFF)
  if [ "$variant" != cpu ]; then arguments=(-DSALIENT_CUDA=ON "-DCMAKE_CUDA_COMPILER=$nvcc"); fi
  arguments+=("-DSALIENT_TORCH_DIR=$(torch_folder)/torch" "$@")
  if ! (cd "$root" && cmake --preset "$preset" "${arguments[@]}") >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log" >&2
    die 2 "CMake could not configure build/$preset; see the messages above"
  fi
}

# build PRESET [TARGET...]: all of it without targets.
build() {
  local preset=$1
  shift
  local targets=()
  if [ $# -gt 0 ]; then targets=(--target "$@"); fi
  say "building build/$preset with $(build_jobs) jobs"
  cmake --build "$root/build/$preset" --parallel "$(build_jobs)" "${targets[@]}" ||
    die 2 "the build failed; see the messages above"
}

# use_build FOLDER KIND [TARGET...]: sets folder to FOLDER, whole, which has programs; where it is empty, to
# build/release, where it builds the targets, or all, as choose_variant KIND says.
use_build() {
  folder=$1
  if [ -z "$folder" ]; then
    choose_variant "$2"
    configure release
    build release "${@:3}"
    folder=$root/build/release
  fi
  [ -d "$folder/bin" ] || die 66 "no programs in $folder/bin; build first"
  folder=$(cd "$folder" && pwd -P)
}

# check_tag: a commit with a release's tag has the version of CMakeLists.txt.
check_tag() {
  local version tag
  version=$(sed -n 's/^project(salient VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
  for tag in $(git -C "$root" tag --points-at HEAD --list 'v[0-9]*' 2>/dev/null); do
    [ "$tag" = "v$version" ] || die 2 "this commit has the tag $tag, and CMakeLists.txt says $version"
  done
}
