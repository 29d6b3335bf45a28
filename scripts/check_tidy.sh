#!/usr/bin/env bash
# scripts/check_tidy.sh - clang-tidy with .clang-tidy's rules over the .cpp files, or over those named.
#
#   scripts/check_tidy.sh [--build FOLDER] [FILE...]      FOLDER has compile_commands.json; default build/release
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=build/release
if [ "${1:-}" = --build ]; then
  folder=$2
  shift 2
fi
command -v clang-tidy >/dev/null || { echo "skipped: clang-tidy is not installed" && exit 77; }
commands=$folder/compile_commands.json
[ -f "$commands" ] || { echo "check_tidy: error: no $commands; build first" >&2 && exit 66; }
if [ $# -eq 0 ]; then
  # what the build compiles, tests apart: GoogleTest's macros break most rules
  mapfile -t files < <(python3 -c '
import json, os, sys
paths = {os.path.relpath(entry["file"]) for entry in json.load(open(sys.argv[1]))}
left_out = ("..", "tests/", "benchmarks/")
print("\n".join(sorted(p for p in paths if p.endswith(".cpp") and not p.startswith(left_out))))' "$commands")
  set -- "${files[@]}"
fi
printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet -p "$folder" --extra-arg=-Wno-unknown-warning-option
echo "$# files pass clang-tidy"
