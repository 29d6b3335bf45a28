#!/usr/bin/env bash
# scripts/build_site.sh - the documents as a site with search, from docs/ and the programs' help, by MkDocs.
#
#   scripts/build_site.sh [--bin FOLDER] [--source URL] [--out FOLDER]
#
#   --bin     programs whose options become the reference; build/release/bin
#   --source  where the repository is shown, for links to its files, as https://HOST/NAME/blob/main; none: no links
#   --out     the site's folder, which any web server can serve; build/site
#
# With Doxygen on PATH (or SALIENT_DOXYGEN) there is a reference of the public C++ headers, too; without it a list.
# MkDocs goes into a virtual environment in the user's cache, once, as by scripts/setup.sh --site. SALIENT_MKDOCS names
# another mkdocs, which has mkdocs-material and mkdocstrings[python].
set -euo pipefail
program=build_site
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$root/scripts/lib/wheels.sh"
. "$root/scripts/lib/site.sh"
cd "$root"

bin=build/release/bin source_url='' out=build/site
while [ $# -gt 0 ]; do
  case $1 in
    --bin) bin=${2:?--bin FOLDER} ;;
    --source) source_url=${2:?--source URL} ;;
    --out) out=${2:?--out FOLDER} ;;
    --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" && exit 0 ;;
    *) die 2 "unknown option $1; see --help" ;;
  esac
  shift 2
done

programs=()
for name in prepare train infer serve report doctor bench kernels; do
  if [ -x "$bin/salient-$name" ]; then programs+=("$bin/salient-$name"); fi
done
[ ${#programs[@]} -gt 0 ] || die 66 "$bin has no programs, whose help is the reference of options; build them, or --bin"
mkdocs=${SALIENT_MKDOCS:-}
if [ -z "$mkdocs" ]; then
  install_site >&2
  mkdocs=$(site_folder)/bin/mkdocs
fi
pages=build/site-pages
rm -rf "$pages"
doxygen=${SALIENT_DOXYGEN:-$(command -v doxygen || true)}
if [ -n "$doxygen" ]; then
  mkdir -p "$pages/reference/cpp"
  {
    cat scripts/lib/Doxyfile
    echo "OUTPUT_DIRECTORY = $pages/reference/cpp"
    echo "INPUT = $(python3 scripts/lib/site_pages.py --headers | tr '\n' ' ')"
  } | "$doxygen" -
fi
python3 scripts/lib/site_pages.py "$pages" --source "$source_url"
python3 scripts/make_option_reference.py --out "$pages/reference/options.md" "${programs[@]}"
out=$(realpath -m "$out")
NO_MKDOCS_2_WARNING=1 "$mkdocs" build --quiet --strict --clean --site-dir "$out"
echo "$out/index.html"
