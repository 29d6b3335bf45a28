#!/usr/bin/env bash
# scripts/fuzz.sh - builds the libFuzzer targets and runs each for some seconds; stops at the first finding.
#
#   scripts/fuzz.sh SECONDS [NAME...]      needs clang; new inputs go to build/fuzz/corpus/, findings to build/fuzz/
set -euo pipefail
program=fuzz
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

seconds=${1:-}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die 2 "usage: scripts/fuzz.sh SECONDS [NAME...]"
shift
check_fuzz_compiler
use_cmake || die 66 "CMake 3.25 or later is missing; run scripts/setup.sh"
variant=cpu
configure fuzz
build fuzz tests/fuzz/all
folder=$root/build/fuzz
bin=$folder/tests/fuzz  # fuzz_NAME searches, NAME_replay writes the first inputs: tests/fuzz/CMakeLists.txt

names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for file in "$bin"/fuzz_*; do names+=("${file##*/fuzz_}"); done
fi
for name in "${names[@]}"; do
  [ -x "$bin/fuzz_$name" ] || die 2 "no fuzz target $name in $bin"
  corpus=$folder/corpus/$name log=$folder/$name.log
  mkdir -p "$corpus"
  "$bin/${name}_replay" "$corpus" >"$log" 2>&1 || die 1 "${name}_replay failed: $(tail -n 1 "$log")"
  say "$name for $seconds s"
  if ! "$bin/fuzz_$name" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$folder/$name-" "$corpus" >>"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die 1 "$name found something; its input is $folder/$name-*"
  fi
  say "$name is clean after $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
done
