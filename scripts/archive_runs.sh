#!/usr/bin/env bash
# scripts/archive_runs.sh - adds recorded runs of salient-kernels to workbench/results/runs.tar.xz.
#
#   scripts/archive_runs.sh RUN...    run folders; one of the same name in the archive is replaced
#
# Kept are ledger, texts and best.json: best.cpp or best.cu is one of the texts, and `salient-kernels report` makes the
# reports again. The archive depends on the files alone. Exit codes: 2 usage, 66 a run or a tool is missing.
set -euo pipefail
program=archive_runs
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

[ $# -gt 0 ] || die 2 "usage: scripts/archive_runs.sh RUN..."
for tool in tar xz sha256sum; do
  command -v "$tool" >/dev/null || die 66 "$tool is missing; apt-get install tar xz-utils coreutils"
done
results=${SALIENT_RESULTS:-$root/workbench/results}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -e "$results/runs.tar.xz" ]; then
  (cd "$results" && sha256sum --quiet --check runs.tar.xz.sha256) || die 65 "$results/runs.tar.xz: another SHA-256"
  tar -C "$work" -xJf "$results/runs.tar.xz"
fi
for run in "$@"; do
  [ -f "$run/ledger.jsonl" ] || die 66 "$run: has no ledger.jsonl"
  name=$(basename "$run")
  rm -rf "${work:?}/$name"
  mkdir -p "$work/$name"
  cp -r "$run/ledger.jsonl" "$run/best.json" "$run/objects" "$work/$name/"
done
(cd "$work" && find . -type f -printf '%P\n' | LC_ALL=C sort) >"$work.list"
tar -C "$work" --format=ustar --owner=0 --group=0 --numeric-owner --mode=0644 --mtime=@0 --no-recursion \
  -cf - -T "$work.list" | xz -9e >"$work.xz"
rm "$work.list"
mv "$work.xz" "$results/runs.tar.xz"
(cd "$results" && sha256sum runs.tar.xz >runs.tar.xz.sha256)
say "$(find "$work" -name ledger.jsonl | wc -l) runs in $results/runs.tar.xz"
