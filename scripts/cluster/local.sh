#!/usr/bin/env bash
# scripts/cluster/local.sh - several ranks on this machine: one per GPU, or as many as you say.
#
#   scripts/cluster/local.sh [-n RANKS] salient-train OPTIONS...
set -euo pipefail
if [ "${1:-}" = -n ]; then
  ranks=$2 && shift 2
else
  ranks=$(nvidia-smi --list-gpus 2>/dev/null | wc -l || true)
  [ "$ranks" -gt 0 ] || { echo "local.sh: error: no GPU found; say how many ranks: -n 2" >&2 && exit 69; }
fi
root_may_start=()
[ "$(id -u)" != 0 ] || root_may_start=(--allow-run-as-root)
exec mpirun -np "$ranks" --bind-to none --oversubscribe "${root_may_start[@]}" --mca odls_base_sigkill_timeout 60 "$@"
