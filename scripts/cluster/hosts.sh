#!/usr/bin/env bash
# scripts/cluster/hosts.sh - ranks on several machines without a scheduler, over ssh.
#
#   scripts/cluster/hosts.sh HOSTFILE salient-train OPTIONS...
#
# HOSTFILE has a line per machine: "node1 slots=8", slots being its GPUs. Needed on each: ssh without a password, the
# program under the same path (scripts/bundle.sh), the data set. Variables named SALIENT_* and NCCL_* are passed on.
set -euo pipefail
hosts=${1:?hosts.sh HOSTFILE PROGRAM OPTIONS...}
shift
passed_on=()
for name in $(compgen -e | grep -E '^(SALIENT|NCCL)_|^LD_LIBRARY_PATH$' || true); do passed_on+=(-x "$name"); done
exec mpirun --hostfile "$hosts" --map-by slot --bind-to none "${passed_on[@]}" --mca odls_base_sigkill_timeout 60 "$@"
