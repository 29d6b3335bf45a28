#!/usr/bin/env bash
# scripts/lib/site.sh - a virtual environment with MkDocs, which makes the site of the documents.
# shellcheck shell=bash

readonly site_packages=(doxygen)  # the reference of the C++ headers; without it there is a list of them
readonly site_wheels=(mkdocs==1.6.1 mkdocs-material==9.8.2 'mkdocstrings[python]==1.0.8')

# site_folder: where the environment is; clones that want other versions have another folder.
site_folder() {
  printf '%s/site-%s' "$cache" "$(printf '%s\n' "${site_wheels[@]}" | sha256sum | head -c 8)"
}

# install_site: makes it, where it is not complete. Needs wheels.sh.
install_site() {
  local folder
  folder=$(site_folder)
  if [ -f "$folder/done" ] && "$folder/bin/mkdocs" --version >/dev/null 2>&1; then return 0; fi
  say "making MkDocs' environment in $folder, once"
  make_cache
  rm -rf "$folder"
  python3 -m venv "$folder" || die 66 "could not make $folder; install python3-venv"
  "$folder/bin/python3" -m pip --disable-pip-version-check install -q "${site_wheels[@]}" >"$cache/pip.log" 2>&1 ||
    die_of_pip "$cache/pip.log" "${site_wheels[*]}"
  touch "$folder/done"
}

# Run as a program it prints the folder.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  program=site
  . "$(dirname "$0")/common.sh"
  site_folder
fi
