#!/usr/bin/env bash
# benchmarks/repeat.sh - benchmarks of docs/BENCHMARKS.md and docs/DISTRIBUTED.md again, on a machine with GPUs.
#
#   benchmarks/repeat.sh BIN LOGS PART...     BIN: folder of the programs; LOGS: a new folder for what they print
#
# One GPU:    operators models sage full cached tiers labor server loader
# Two GPUs:   scaling sharded oversized dealing partitioned
#
# Each part is one or more commands, printed with its exit code, its seconds, and the lines that count. SCALE=0.001
# makes the graphs of full size that small a part of it, to try a part out. `loader` needs the Python package,
# torch-geometric and pyg-lib, `labor` 36 GB of host memory, `oversized` 100 GB in each GPU.
set -euo pipefail

if [ $# -lt 3 ]; then
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
  exit $(($# > 0 ? 2 : 0))
fi
bin=$(cd "$1" && pwd) logs=$2
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
server_load=$here/load_serve.py
[ -e "$server_load" ] || server_load=$here/../scripts/load_serve.py
mkdir "$logs" || exit 2
cd "$logs"
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}
scale=${SCALE:-1} failed=0
mpirun=(mpirun -np 2 --bind-to none)
[ "$(id -u)" != 0 ] || mpirun+=(--allow-run-as-root)
sockets=(-x NCCL_P2P_DISABLE=1 -x NCCL_SHM_DISABLE=1)
resident=(--features device --sampler device --step resident)

# run NAME LINES COMMAND...: LINES is a pattern of grep for the lines to show.
run() {
  local name=$1 lines=$2 begin=$SECONDS status=0
  shift 2
  echo "+ ${*/#$bin\//}"
  "$@" >"$name.log" 2>&1 || status=$?
  [ $status = 0 ] || failed=1
  grep -E -- "$lines" "$name.log" | cut -c 1-200 || tail -n 3 "$name.log"
  echo "  $name: exit code $status, $((SECONDS - begin)) s"
}

# twin: a store with clusters, of a tenth of the nodes of papers100M, in two parts.
twin() {
  [ ! -e twin ] || return 0
  run twin '^(nodes|edges)' "$bin/salient-prepare" synthetic --like papers100M --out twin \
    --scale "$(awk "BEGIN { print 0.1 * $scale }")" --train-communities 0.05 --community-edges 0.95
  run parts '^(parts|cut)' "$bin/salient-prepare" partition twin --parts 2
}

part() {
  case $1 in
    operators) run operators '_median' "$bin/operators_bench" --benchmark_repetitions=3 \
      --benchmark_report_aggregates_only=true ;;
    models) run models '^(gcn|gin|gat|sage).* [0-9]' "$bin/salient-bench" steps --rounds 1 --epochs 3 \
      --graph "synthetic:products:$scale" --kernels ;;
    sage) run sage '^epoch|^training steps' "$bin/salient-train" --dataset synthetic:papers100M:0.1 --precision bf16 \
      --epochs 12 --eval-every 100 --progress plain --out sage ;;
    full) run full 'resident' "$bin/salient-bench" table1 --graphs papers100M --scale "$scale" --rows resident \
      --epochs 5 ;;
    cached) run cached '^papers100M' "$bin/salient-bench" table1 --graphs papers100M --scale "$scale" \
      --train-communities 0.05 --community-edges 0.95 --cached-share 0.1 --rows "features and sampling on the GPU" ;;
    tiers) run tiers 'steps +[0-9]' "$bin/salient-bench" tiers --graph synthetic:papers100M:0.05:0.05 --rounds 1 \
      --epochs 3 --precision bf16 ;;
    labor)
      for draw in uniform labor; do
        for graph in products papers100M; do
          run "labor-$graph-$draw" 'rows a batch' "$bin/salient-bench" cache --like $graph --scale "$scale" \
            --batch-size 1024 --draw $draw
        done
      done ;;
    server)
      run served '^test accuracy' "$bin/salient-train" --dataset synthetic:papers100M:0.05 --epochs 1 --out served
      "$bin/salient-serve" --run served --port 8095 >server.log 2>&1 &
      local server=$!
      for _ in $(seq 60); do ! curl -sf localhost:8095/healthz >/dev/null || break; sleep 1; done
      run server-50 'answers' python3 "$server_load" http://127.0.0.1:8095 --nodes-of-dataset 5000000 --rate 50
      run server-all 'answers' python3 "$server_load" http://127.0.0.1:8095 --nodes-of-dataset 5000000 --rate 0 \
        --connections 16 --seconds 10
      kill "$server" && wait "$server" ;;
    loader) run loader ' x PyG' python3 "$here/pyg_loader.py" --rounds 2 --seconds 1 --uses alone,layers,reduce \
      --dataset "synthetic:products:$scale" --out loader.json ;;
    scaling) run scaling '^[0-9]+ rank' "${mpirun[@]}" "$bin/salient-bench" scaling --precision bf16 --epochs 5 \
      --dataset "synthetic:papers100M:$scale" --ranks 1,2,1,2 "${resident[@]}" ;;
    sharded) run sharded '^[0-9]+ rank' "${mpirun[@]}" "$bin/salient-bench" scaling --precision bf16 --epochs 5 \
      --dataset "synthetic:papers100M:$scale" --ranks 2 --placements device,sharded,device,sharded --copies-gb 2.84 \
      --cache-policy degree --step resident --sampler device ;;
    oversized) run oversized '^[0-9]+ rank|run needs' "${mpirun[@]}" "$bin/salient-bench" scaling --precision bf16 \
      --dataset "synthetic:mag240M:$scale" --ranks 2 --features sharded --drawn-features=true --epochs 4 \
      --sampler device --step resident ;;
    dealing)
      twin
      for deal in even owner; do
        run "dealing-$deal" '^[0-9]+ rank' "${mpirun[@]}" "$bin/salient-bench" scaling --dataset "$PWD/twin" \
          --ranks 1,2,1,2 --deal $deal --epochs 8 --precision fp32 "${resident[@]}"
      done ;;
    partitioned)
      twin
      local train=("$bin/salient-train" --dataset "$PWD/twin" --deterministic=true --step eager --epochs 2
        --eval-every 100 --precision fp32 --progress plain)
      run host '^epoch' "${mpirun[@]}" "${sockets[@]}" "${train[@]}" --features host --out host
      for deal in even owner; do
        run "$deal-no-copies" '^epoch' "${mpirun[@]}" "${sockets[@]}" "${train[@]}" --features partitioned \
          --deal $deal --cache-gb 1e-6 --out "$deal-no-copies"
        run "$deal-copies" '^epoch' "${mpirun[@]}" "${sockets[@]}" "${train[@]}" --features partitioned \
          --deal $deal --out "$deal-copies"
      done ;;
    *)
      echo "repeat.sh: error: there is no part $1; without arguments it lists them" >&2
      exit 2 ;;
  esac
}

for name in "$@"; do part "$name"; done
exit $failed
