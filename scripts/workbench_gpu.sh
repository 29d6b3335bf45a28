#!/usr/bin/env bash
# scripts/workbench_gpu.sh - the kernel workbench on a machine with a GPU: tests, baselines, many runs side by side.
#
#   scripts/workbench_gpu.sh test [start|attacks|own]
#                                                    start kernels are correct (5 minutes), attacks are rejected,
#                                                    sources of strangers become cases
#   scripts/workbench_gpu.sh baselines FILE          start kernels and torch's operators timed; FILE is for `report`
#   scripts/workbench_gpu.sh start RUNS NAME...      a run RUNS/NAME each, up to its first request; NAME is CASE-METHOD
#                                                    or CASE-METHOD.LABEL
#   scripts/workbench_gpu.sh advance RUNS SECONDS    every run of RUNS goes on until it waits for an answer, or ends
#   scripts/workbench_gpu.sh status RUNS             what each run waits for
#
# RUNS is a folder, or an archive RUNS.tgz that is unpacked first and written anew at the end, to RUNS.tgz or to the
# file that PACK names: for machines that take and give few files.
# Requests are RUNS/NAME/answers/NNN-ROLE.request.md, answers go beside them as NNN-ROLE.answer.md. Runs share the GPU:
# they check at once, and are timed one at a time. JOBS=4 says how many at once, OPTIONS='--rounds 5' is passed on.
# Needs nvcc, a driver and a GPU. In a clone it makes a bundle first (scripts/bundle.sh --workbench) and runs that one.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

if [ $# = 0 ] || [ "$1" = --help ]; then
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
  exit 0
fi
if [ ! -e "$here/bin/salient-env" ]; then
  "$here/scripts/bundle.sh" --workbench --out "$here/dist/workbench"
  exec "$here/dist/workbench/scripts/workbench_gpu.sh" "$@"
fi

die() { echo "workbench_gpu: error: $*" >&2 && exit 2; }

kernels=$here/bin/salient-kernels cases=$here/share/workbench/cases
if [ -e "$here/share/cute.tar.gz" ] && [ ! -d "$here/share/cute" ]; then
  tar -C "$here/share" -xzf "$here/share/cute.tar.gz"
fi
command -v nvcc >/dev/null || PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
command -v nvcc >/dev/null || die "nvcc is not on PATH"
read -ra options <<<"${OPTIONS:-}"
jobs=${JOBS:-4}

# wait_for_turn: until fewer than $jobs are running.
wait_for_turn() { while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done; }

# start_one RUNS NAME
start_one() {
  local runs=$1 name=$2 status=0
  local method=${name##*-}
  "$kernels" optimize "${name%-*}" --method "${method%%.*}" --generator folder --backend cuda --out "$runs/$name" \
    "${options[@]}" >"$runs/$name.log" 2>&1 || status=$?
  echo "$name: exit $status, $(tail -n 2 "$runs/$name.log" | head -n 1)"
}

# advance_one RUN SECONDS: the program itself stops before an action that would begin too late.
advance_one() {
  local status=0
  timeout -k 60 $(($2 + 60)) "$kernels" advance "$1" --budget-s "$2" "${options[@]}" >>"$1.log" 2>&1 || status=$?
  echo "${1##*/}: exit $status, $(tail -n 2 "$1.log" | head -n 1)"
}

archive='' runs=${2:-}
if [[ $1 =~ ^(start|advance|status)$ && $runs = *.tgz ]]; then
  archive=$runs runs=$(mktemp -d)/runs
  trap 'rm -rf "${runs%/runs}"' EXIT
  mkdir -p "$runs"
  if [ -e "$archive" ]; then tar -C "$runs" -xzf "$archive" --strip-components=1; fi
fi

# pack: writes the archive, if RUNS is one.
pack() {
  [ -n "$archive" ] || return 0
  tar -C "${runs%/runs}" -czf "${PACK:-$archive}.part" runs
  mv "${PACK:-$archive}.part" "${PACK:-$archive}"
}

case $1 in
  test)
    python3 "$here/tests/cuda_backend_gpu_test.py" "$kernels" "$cases" "$here/tests/cuda_fixtures" "${@:2}"
    ;;
  baselines)
    [ $# = 2 ] || die "baselines FILE"
    for case in "$cases"/*.case; do
      name=$(basename "$case" .case)
      # The start kernel beside itself: NOISE is the verdict to expect, its times are what a candidate has to beat.
      "$kernels" bench "$name" "$cases/kernels/$name.cu" --backend cuda "${options[@]}" || true
    done
    python3 "$here/scripts/workbench_baselines.py" "$cases" "$2"
    ;;
  start)
    [ $# -ge 3 ] || die "start RUNS NAME..."
    shift 2
    mkdir -p "$runs"
    for name in "$@"; do
      start_one "$runs" "$name" &
      wait_for_turn
    done
    wait
    pack
    ;;
  advance)
    [ $# = 3 ] || die "advance RUNS SECONDS"
    for run in "$runs"/*/; do
      [ -e "$run/ledger.jsonl" ] || continue
      advance_one "${run%/}" "$3" &
      wait_for_turn
    done
    wait
    pack
    ;;
  status)
    [ $# = 2 ] || die "status RUNS"
    for run in "$runs"/*/; do
      [ -e "$run/ledger.jsonl" ] || continue
      waits=$(for request in "$run"answers/*.request.md; do
        [ -e "$request" ] || continue
        compgen -G "${request%.request.md}.answer.*" >/dev/null || echo "${request##*/}"
      done)
      echo "$(basename "$run"): ${waits:-nothing to answer}"
    done
    ;;
  *) die "unknown command $1; see --help" ;;
esac
