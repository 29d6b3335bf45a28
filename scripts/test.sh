#!/usr/bin/env bash
# scripts/test.sh - set-up, build, and every test that this machine can run; at the end, how many passed or not.
#
#   scripts/test.sh [--cpu] [--no-packages] [--browser] [--python] [--asan] [--tsan] [--fuzz SECONDS]
#     --browser          install chromium, too, so that report.html is tested in it; always where CI=true
#     --python           make the Python package's test environment, too, so that its tests run; likewise
#     --asan, --tsan     the tests that need no LibTorch once more, under AddressSanitizer and UBSan, or ThreadSanitizer
#     --fuzz SECONDS     every libFuzzer target for that long; needs clang
#   SALIENT_TESTS=REGEX in the environment: the tests alone whose names match; only what they start is built.
set -euo pipefail
program=test
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

kind=auto presets=(release) fuzz_seconds=0 setup_options=()
take_option() {
  case $1 in
    --cpu) kind=cpu setup_options+=("$1") ;;
    --no-packages | --browser | --python) setup_options+=("$1") ;;
    --asan | --tsan) presets+=("${1#--}") ;;
    --fuzz)
      fuzz_seconds=${2:-} words=2
      [[ $fuzz_seconds =~ ^[1-9][0-9]*$ ]] || die 2 "--fuzz needs a number of seconds"
      ;;
    *) return 1 ;;
  esac
}
read_options "$@"

if [ "$fuzz_seconds" -gt 0 ]; then check_fuzz_compiler; fi
if [ "${CI:-}" = true ]; then setup_options+=(--browser --python); fi
"$root/scripts/setup.sh" "${setup_options[@]}"
choose_variant "$kind"
use_cmake

# programs_of_tests FOLDER REGEX: what to build for these tests, one a line. Their own programs have their names; a test
# that starts others may start all.
programs_of_tests() {
  ctest --test-dir "$1" -R "$2" --show-only=json-v1 | python3 -c '
import json, sys
folder = sys.argv[1] + "/"
for test in json.load(sys.stdin)["tests"]:
    words = test.get("command", [folder])  # none: not built yet
    if words[0].startswith(folder):
        print(test["name"])
    elif any(word.startswith(folder) for word in words):
        print("all")' "$1"
}

results=()
for preset in "${presets[@]}"; do
  configure "$preset"
  folder=$root/build/$preset targets=() selection=()
  if [ -n "${SALIENT_TESTS:-}" ]; then
    selection=(--tests-regex "$SALIENT_TESTS")
    mapfile -t targets < <(programs_of_tests "$folder" "$SALIENT_TESTS")
  fi
  if [ -z "${SALIENT_TESTS:-}" ] || [ ${#targets[@]} -gt 0 ]; then build "$preset" "${targets[@]}"; fi
  say "running the tests of build/$preset"
  results+=("$folder/tests.xml")
  rm -f "${results[-1]}"
  # The summary judges, not ctest's exit code. Several at once where there are cores; a test that wants more says so.
  ctest --test-dir "$folder" "${selection[@]}" --output-on-failure --no-tests=error --parallel "$(nproc)" \
    --test-output-size-passed 1000000 --test-output-size-failed 1000000 --output-junit "${results[-1]}" || true
done

notes=() status=0
if [ "$fuzz_seconds" -gt 0 ] && ! "$root/scripts/fuzz.sh" "$fuzz_seconds"; then
  status=1
  notes+=(--note "fuzzing failed; see the messages above")
fi
if [ "$variant" = cpu ]; then notes+=(--note "GPU tests not built: $why"); fi
python3 "$root/scripts/summarise_tests.py" "${notes[@]}" "${results[@]}" || status=1
exit "$status"
