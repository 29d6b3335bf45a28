#!/usr/bin/env bash
# scripts/fetch_ogb.sh - downloads one of OGB's node sets, from where it stopped, checks and unpacks it.
#
#   scripts/fetch_ogb.sh NAME [DIR]     NAME: ogbn-arxiv (83 MB), ogbn-products (1.4 GB), ogbn-papers100M (56.2 GiB)
#                                       DIR: default data/ogb; the set is unpacked into a folder below it
#   SALIENT_OGB_URL=http://...          another place that holds the archives under their names
#
# Start it again after an interruption of any kind. Exit codes: 2 usage, 65 the archive is damaged or another one,
# 66 a tool or the archive is missing, 74 disk, 75 network.
set -euo pipefail
program=fetch_ogb
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

# The archive, the folder in it, and its SHA-256 (as several independent projects have pinned it; none is published).
case ${1:-} in
  ogbn-arxiv) archive=arxiv.zip folder=arxiv sha256=49f85c801589ecdcc52cfaca99693aaea7b8af16a9ac3f41dd85a5f3193fe276 ;;
  ogbn-products)
    archive=products.zip folder=products sha256=5ea0a112edaec2141c0a2a612dd4aed58df97ff3e1ab1a0ca8238f43cbbb50a8 ;;
  ogbn-papers100M) archive=papers100M-bin.zip folder=papers100M-bin sha256='' ;;
  *) die 2 "usage: scripts/fetch_ogb.sh ogbn-arxiv|ogbn-products|ogbn-papers100M [DIR]" ;;
esac
[ $# -le 2 ] || die 2 "usage: scripts/fetch_ogb.sh NAME [DIR]"
name=$1 dir=${2:-data/ogb}
dir=${dir%/}
url=${SALIENT_OGB_URL:-http://snap.stanford.edu/ogb/data/nodeproppred}/$archive
part=$dir/$archive.part
for tool in curl unzip sha256sum; do
  command -v "$tool" >/dev/null || die 66 "$tool is missing; apt-get install curl unzip coreutils"
done

finish() {
  say "$name is in $dir/$folder; next:"
  printf 'salient-prepare ogb --raw %q --name %s --out %q\n' "$dir/$folder" "$name" "data/$name"
  exit 0
}

# size_of FILE: its bytes, 0 when there is none.
size_of() { stat -c %s -- "$1" 2>/dev/null || echo 0; }

# explain CURL_EXIT_CODE: ends with one line.
explain() {
  case $1 in
    22) die 66 "$url: the server has no such file, or does not give it now" ;;
    23) die 74 "$part: cannot write; is the disk full? what is there stays, start again to continue" ;;
    *) die 75 "no connection to ${url%/*} (curl: $1); start again to continue after $(size_of "$part") bytes" ;;
  esac
}

# remote_size: what the server says that the archive has, in bytes.
remote_size() {
  local headers code=0
  headers=$(curl --silent --head --fail --location --connect-timeout 20 --retry 2 "$url") || code=$?
  [ "$code" -eq 0 ] || explain "$code"
  headers=$(printf '%s' "$headers" | tr -d '\r' | sed -n 's/^[Cc]ontent-[Ll]ength: *//p' | tail -n 1)
  [[ $headers =~ ^[0-9]+$ ]] || die 75 "$url: the server does not send the size; is a proxy in between?"
  echo "$headers"
}

# download TOTAL: continues $part, again and again as long as bytes arrive.
download() {
  local total=$1 before code quiet=(--silent --show-error)
  [ ! -t 2 ] || quiet=(--progress-bar)
  while [ "$(size_of "$part")" -lt "$total" ]; do
    before=$(size_of "$part") code=0
    curl "${quiet[@]}" --fail --location --connect-timeout 20 --speed-time 60 --speed-limit 1 --continue-at - \
      --output "$part" "$url" 2>"$dir/.curl" || code=$?
    if [ "$code" -eq 33 ]; then  # the server cannot continue
      say "the server starts from the beginning again"
      rm -f -- "$part"
      continue
    fi
    [ "$code" -ne 22 ] && [ "$code" -ne 23 ] || explain "$code"
    [ "$(size_of "$part")" -gt "$before" ] || explain "$code"
  done
  rm -f -- "$dir/.curl"
}

# check FILE TOTAL: size, checksum where one is known, and that it is a zip file with the right folder.
check() {
  local found
  [ "$(size_of "$1")" -eq "$2" ] ||
    die 65 "$1 has $(size_of "$1") bytes, the server's has $2; remove it and start again"
  [[ $(unzip -Z1 "$1" 2>/dev/null) == *"$folder/raw/"* ]] ||
    die 65 "$1 is no zip file with a folder $folder/raw; remove it and start again"
  say "computing the SHA-256 of $archive"
  found=$(sha256sum <"$1" | cut -d ' ' -f 1)
  [ -z "$sha256" ] || [ "$found" = "$sha256" ] ||
    die 65 "$1 has SHA-256 $found, expected is $sha256; remove it and start again"
  printf '%s  %s\n' "$found" "$archive" >"$dir/$archive.sha256"
}

[ ! -d "$dir/$folder/raw" ] || finish
mkdir -p -- "$dir" 2>/dev/null && [ -w "$dir" ] ||
  die 74 "cannot write to $dir; choose another folder as second argument"

if [ ! -f "$dir/$archive" ]; then
  total=$(remote_size)
  have=$(size_of "$part")
  [ "$have" -le "$total" ] || die 65 "$part has $have bytes, more than the server's $total; remove it and start again"
  need_space "$dir" $(((total - have + total) / 1000000 + 1)) "$name (download and unpacked)"
  say "downloading $url ($((total / 1000000)) MB, $((have / 1000000)) of them are here)"
  download "$total"
  check "$part" "$total"
  mv -- "$part" "$dir/$archive"
fi

# The files inside are compressed already: unpacked they take as much again. unzip checks every CRC-32.
need_space "$dir" $(($(size_of "$dir/$archive") / 1000000 + 1)) "unpacking $archive"
say "unpacking $archive"
unpacking=$dir/.unpacking-$folder
rm -rf -- "$unpacking"
code=0
unzip -q "$dir/$archive" -d "$unpacking" 2>"$dir/.unzip" || code=$?
if [ "$code" -ne 0 ]; then
  reason=$(tail -n 1 "$dir/.unzip")
  rm -rf -- "$unpacking"
  [ "$code" -ne 50 ] || die 74 "the disk filled up while $archive was unpacked; make room and start again"
  die 65 "$dir/$archive is damaged (${reason:-unzip: $code}); remove it and start again"
fi
mv -- "$unpacking/$folder" "$dir/$folder"
rm -rf -- "$unpacking" "$dir/.unzip"
say "$dir/$archive is not needed any more and may be removed; $dir/$archive.sha256 has its checksum"
finish
