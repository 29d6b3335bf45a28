#!/usr/bin/env bash
# scripts/package.sh - a Debian package of the programs, their manual pages and completion, by CPack.
#
#   scripts/package.sh [--cpu] [--build FOLDER] [--out FOLDER]
#     --cpu            a CPU package even where a CUDA toolkit is found
#     --build FOLDER   package what is built there instead of building build/release
#     --out FOLDER     default dist in the clone
#
# On the machine that it is installed on: apt-get install ./salient_*.deb, then salient-fetch-torch, once for each user,
# or SALIENT_TORCH_DIR. Packages are for the distribution that they are built on, and newer ones.
set -euo pipefail
program=package
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

kind=auto folder='' out=$root/dist
take_option() {
  case $1 in
    --cpu) kind=cpu ;;
    --build) folder=${2:-} words=2 ;;
    --out) out=${2:-} words=2 ;;
    *) return 1 ;;
  esac
}
read_options "$@"

use_cmake || die 66 "CMake 3.25 or later is missing; run scripts/setup.sh"
command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null ||
  die 66 "dpkg-shlibdeps or file is missing: apt-get install dpkg-dev file"
check_tag
use_build "$folder" "$kind" packaged-programs
mkdir -p "$out" || die 74 "cannot write to $out"
log=$folder/package.log
if ! (cd "$folder" && cpack -G DEB -B "$folder/package") >"$log" 2>&1; then
  cat "$log" >&2
  die 2 "CPack could not make the package; see the messages above"
fi
for file in "$folder"/package/*.deb; do
  mv "$file" "$out/"
  say "$out/${file##*/}, $(du -m "$out/${file##*/}" | cut -f 1) MB"
done
