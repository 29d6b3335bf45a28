#!/usr/bin/env bash
# scripts/quickstart.sh - from a bare machine to a GraphSAGE model of a real graph: set-up, build, prepare, train.
#
#   scripts/quickstart.sh [--cpu] [--no-packages]      the options of scripts/setup.sh
#
# The data goes to data/, the run to runs/, both in the clone. A second start builds and prepares only what has changed.
set -euo pipefail
program=quickstart
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

kind=auto
take_option() {
  case $1 in
    --cpu) kind=cpu ;;
    --no-packages) ;;
    *) return 1 ;;
  esac
}
read_options "$@"

"$root/scripts/setup.sh" "$@"
choose_variant "$kind"
use_cmake
configure release
build release packaged-programs

cd "$root"  # the programs' default folders, data/ and runs/, are meant to be the clone's
bin=build/release/bin
dataset=wordnet
if [ -f data/wordnet/dataset.json ]; then
  say "data/wordnet is there already"
elif [ -f /usr/share/wordnet/data.noun ]; then
  "$bin/salient-prepare" wordnet --out data/wordnet
else
  dataset=synthetic-like-arxiv
  say "no WordNet on this machine (package wordnet-base): training on a generated graph instead"
  [ -f data/$dataset/dataset.json ] || "$bin/salient-prepare" synthetic --like arxiv --scale 0.5 --out data/$dataset
fi
env -u SALIENT_OUT "$bin/salient-train" --dataset data/$dataset  # there, whatever SALIENT_DATA names

run=$(ls -td runs/*/ | sed -n 1p)

cat <<END

What the run was like, for a browser: $root/${run}report.html

What to try next, in $root:
  $bin/salient-train --dataset data/$dataset --epochs 20     train longer
  $bin/salient-train --help                                 every option
  $bin/salient-prepare --help                               your own graph: edge lists, npz files, OGB's folders
  scripts/test.sh                                                        every test that this machine can run
END
