#!/usr/bin/env bash
# scripts/test.sh - set-up, build, and every test that this machine can run; at the end, how many passed or not.
#
#   scripts/test.sh [--quick] [--cpu] [--no-packages] [--browser] [--python] [--site] [--asan] [--tsan]
#                   [--fuzz SECONDS]
#     --quick            minutes instead of half an hour: the tests of single parts, against their references and
#                        recorded results of PyG, and the checks of the sources; not the programs as users run them
#     --browser          install chromium, too, so that report.html is tested in it; always where CI=true
#     --python           make the Python package's test environment, too, so that its tests run; likewise
#     --site             install MkDocs and Doxygen, too, so that the site is built and looked at in chromium; likewise
#     --asan, --tsan     the tests that need no LibTorch once more, under AddressSanitizer and UBSan, or ThreadSanitizer
#     --fuzz SECONDS     every libFuzzer target for that long; needs clang
#   SALIENT_TESTS=REGEX in the environment: the tests alone whose names match. For these and for --quick only what the
#   tests start is built.
set -euo pipefail
program=test
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

kind=auto presets=(release) fuzz_seconds=0 setup_options=() selection=()
take_option() {
  case $1 in
    --quick) selection+=(--label-regex '^(unit|property|golden)$') ;;
    --cpu) kind=cpu setup_options+=("$1") ;;
    --no-packages | --browser | --python | --site) setup_options+=("$1") ;;
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
if [ "${CI:-}" = true ]; then setup_options+=(--browser --python --site); fi
"$root/scripts/setup.sh" "${setup_options[@]}"
choose_variant "$kind"
use_cmake
# Without a GPU no test starts a kernel, and one architecture shows that they compile. A build keeps those that it has.
if [ ! -f "$root/build/release/CMakeCache.txt" ] && ! nvidia-smi -L >/dev/null 2>&1; then
  export CUDAARCHS=${CUDAARCHS:-90-real}
fi

if [ -n "${SALIENT_TESTS:-}" ]; then selection+=(--tests-regex "$SALIENT_TESTS"); fi
results=()
for preset in "${presets[@]}"; do
  configure "$preset"
  folder=$root/build/$preset targets=(all)
  if [ ${#selection[@]} -gt 0 ]; then
    mapfile -t targets < <(ctest --test-dir "$folder" "${selection[@]}" --show-only=json-v1 |
      python3 "$root/scripts/lib/targets_of_tests.py" "$folder")
  fi
  if [ -n "${targets[*]}" ]; then build "$preset" "${targets[@]}"; fi
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
