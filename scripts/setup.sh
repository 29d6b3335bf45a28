#!/usr/bin/env bash
# scripts/setup.sh - makes this machine ready to build: the distribution's packages, and LibTorch in the user's cache.
#
#   scripts/setup.sh [--cpu] [--no-packages] [--browser] [--python] [--site] [--workbench] [--languages] [--no-torch]
#     --cpu           a CPU build even where a CUDA toolkit is found
#     --no-packages   leave the distribution's packages alone; for systems other than Debian and Ubuntu
#     --browser       also install chromium, in which a test opens report.html
#     --python        also make the virtual environment in which the Python package is tested
#     --site          also make the virtual environment with MkDocs, which scripts/build_site.sh makes otherwise
#     --no-torch      no LibTorch: for `pip install .`, which takes the torch of its Python; with Python's headers
#     --workbench     also fetch CuTe's headers, which salient-kernels compiles candidates with
#     --languages     likewise, and the compilers of kernels in Python: Triton, CuTe's, TileLang, cuTile (1.5 GB)
#
# Safe to run twice, at the same time, and after an interruption; needs no network once everything is there.
set -euo pipefail
program=setup
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$root/scripts/lib/packages.sh"
. "$root/scripts/lib/wheels.sh"
. "$root/scripts/lib/python.sh"
. "$root/scripts/lib/languages.sh"
. "$root/scripts/lib/site.sh"

kind=auto with_packages=yes with_cute=no with_languages=no with_python=no with_site=no with_torch=yes
take_option() {
  case $1 in
    --cpu) kind=cpu ;;
    --no-packages) with_packages=no ;;
    --browser) optional_packages+=("$browser_package") ;;
    --python)
      with_python=yes
      optional_packages+=("${python_packages[@]}")
      ;;
    --site)
      with_site=yes
      optional_packages+=("${site_packages[@]}" python3-venv)
      ;;
    --workbench) with_cute=yes ;;
    --languages) with_cute=yes with_languages=yes ;;
    --no-torch)
      with_torch=no
      optional_packages+=("${python_packages[@]}")
      ;;
    *) return 1 ;;
  esac
}
read_options "$@"
[ $with_python = no ] || [ $with_torch = yes ] || die 2 "--python takes LibTorch's torch; leave out --no-torch"

check_machine
make_cache
if [ "$with_packages" = yes ]; then
  check_distribution
  install_packages
fi
command -v "${CXX:-g++}" >/dev/null || die 66 "no C++ compiler: ${CXX:-g++} is not there; install g++ or set CXX"
choose_variant "$kind"

exec 9>"$cache/.lock"
if ! flock -n 9; then
  say "another set-up is running; waiting for it"
  flock 9
fi
install_cmake || die 66 "CMake 3.25 or later is missing"
if [ "$with_torch" = yes ]; then install_torch; fi
if [ "$with_cute" = yes ]; then install_cute; fi
if [ "$with_languages" = yes ]; then install_languages; fi
if [ "$with_python" = yes ]; then
  install_python  # alone on its line: in a list with && a failure inside it would not end the script
  name_other_environments
fi
if [ "$with_site" = yes ]; then install_site; fi
if [ "$with_torch" = no ]; then say "ready, without LibTorch: for pip install ." && exit 0; fi
if [ "$variant" = cpu ]; then say "ready: CPU build ($why)"; else say "ready: CUDA build ($why)"; fi
