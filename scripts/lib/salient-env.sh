#!/bin/sh
# scripts/lib/salient-env.sh - in a bundle or package: finds LibTorch on this node, then starts a program of it.
#
#   bin/salient-train ...              under this name it starts libexec/salient-train; so for every program
#   bin/salient-env COMMAND ...        COMMAND with the same environment, tests/NAME for instance
#   bin/mpirun ...                     the OpenMPI that was bundled with --with-mpi; programs take it where the node
#                                      has none
#
# LibTorch is looked for in SALIENT_TORCH_DIR, torch/ in the bundle, the package of each python3 on PATH, the cache of
# scripts/setup.sh.
set -u
readonly torch_version=2.11.0 # that of scripts/lib/common.sh, which need not be here
bundle=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd -P) || exit 66
name=${0##*/}

# usable FOLDER: it is the package's folder torch/, of the version that the programs were built with.
usable() { grep -qF "__version__ = '$torch_version" "$1/version.py" 2>/dev/null && [ -e "$1/lib/$half" ]; }
half=libtorch_cpu.so
if grep -q libtorch_cuda.so "$bundle/libexec/salient-train" 2>/dev/null; then half=libtorch_cuda.so; fi

first_usable() {
  for folder in "$@"; do
    if [ -n "$folder" ] && usable "$folder"; then echo "$folder" && return; fi
  done
  return 1
}

# The package's folder of the first python3 on PATH that has this version: mpirun, started by its absolute path, puts
# its own folder first on the PATH of its ranks, and /usr/bin has a python3 too.
of_python() (
  IFS=:
  set -f
  for directory in $PATH; do
    python=${directory:-.}/python3
    if [ ! -x "$python" ]; then continue; fi
    found=$("$python" -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])' \
      2>/dev/null)
    if first_usable "$found"; then return; fi
  done
  return 1
)

case $name in
  salient-prepare | salient-report | salient-kernels | mpirun) needs_torch=no ;;
  salient-doctor) needs_torch=perhaps ;; # with CUDA it needs libcudart, which may be nowhere but beside torch/
  *) needs_torch=yes ;;
esac
if [ $needs_torch != no ]; then
  home=${HOME:-$(getent passwd "$(id -u)" | cut -d : -f 6)} # not set under systemd, for one
  cached=${XDG_CACHE_HOME:-$home/.cache}/salient/libtorch-$torch_version
  torch=$(first_usable "${SALIENT_TORCH_DIR:-}" "$bundle/torch") || torch=$(of_python) ||
    torch=$(first_usable "$cached-cu130/torch" "$cached-cpu/torch") || torch=
  if [ -z "$torch" ] && [ $needs_torch = yes ]; then
    get="'pip install torch==$torch_version'"
    if [ -e "$bundle/scripts/fetch_torch.sh" ]; then get=salient-fetch-torch; fi
    have=$(sed -n "s/^__version__ = '\([^']*\)'.*/\1/p" "${SALIENT_TORCH_DIR:-}/version.py" 2>/dev/null)
    have=${have:+, which has $have in $SALIENT_TORCH_DIR}
    echo "$name: error: LibTorch $torch_version with $half is not on $(uname -n)$have: $get," \
      "or set SALIENT_TORCH_DIR to its folder torch/" >&2
    exit 66
  fi
  # The folder nvidia/ beside torch/ holds CUDA's libraries where they were installed by pip.
  for folder in "$torch/lib" "$torch/../nvidia/cu13/lib" "$torch/../nvidia/nccl/lib" "$torch/../nvidia/cudnn/lib"; do
    if [ -n "$torch" ] && [ -d "$folder" ]; then LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder; fi
  done
fi
LD_LIBRARY_PATH=$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# lacking_of FILE: the libraries that it does not find, one a line.
lacking_of() {
  LD_TRACE_LOADED_OBJECTS=1 "$1" 2>/dev/null | sed -n 's/^[[:space:]]*\(lib[^ ]*\) => not found$/\1/p' | sort -u
}
probe=$bundle/libexec/$name
if [ ! -e "$probe" ]; then probe=$bundle/libexec/salient-train; fi
if [ -d "$bundle/lib/mpi" ] && { [ "$name" = mpirun ] || lacking_of "$probe" | grep -q '^libmpi\.'; }; then
  LD_LIBRARY_PATH=$bundle/lib/mpi:$LD_LIBRARY_PATH PATH=$PATH:$bundle/bin  # there is mpirun, for --ranks
  export PATH OPAL_PREFIX="$bundle/usr" PMIX_INSTALL_PREFIX="$bundle/usr"
  export PMIX_MCA_pcompress_base_silence_warning=1 # of zlib, which it could use, in a text that it would not find
fi
if [ "$name" = salient-env ]; then exec "$@"; fi
if ! command -v ssh >/dev/null && ! command -v rsh >/dev/null; then
  # mpirun insists on an agent, even for ranks of this host alone. Under torchrun the program has named one.
  export OMPI_MCA_plm_rsh_agent="${OMPI_MCA_plm_rsh_agent:-true}"
fi
if [ "$name" = mpirun ]; then exec "$bundle/usr/bin/orterun" "$@"; fi
lacking=$(lacking_of "$bundle/libexec/$name")
if [ -n "$lacking" ]; then
  list=
  for library in $lacking; do
    case $library in
      libcuda.so* | libnvidia-*) source="NVIDIA's driver" ;;
      libcudnn* | libnccl* | libcusparseLt* | libnvshmem* | libcufile*)
        source="pip install torch==$torch_version brings it"
        ;;
      libcu* | libnv*) source='CUDA 13' ;;
      libmpi* | libopen-*) source=OpenMPI ;;
      *) source='a package of the distribution' ;;
    esac
    list="${list:+$list, }$library ($source)"
  done
  echo "$name: error: not on $(uname -n): $list; install it, or name its folder in LD_LIBRARY_PATH" >&2
  exit 66
fi
exec "$bundle/libexec/$name" "$@"
