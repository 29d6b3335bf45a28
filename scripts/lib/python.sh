#!/usr/bin/env bash
# scripts/lib/python.sh - a virtual environment for the tests of the Python package, with torch and PyG.
# shellcheck shell=bash

readonly python_packages=(python3-dev python3-venv)
# The newest that Python 3.10 takes. They hold torch's own requirements, but for CUDA's libraries and Triton: LibTorch's
# folder brings what import needs of them.
readonly python_wheels=(numpy==2.2.6 pytest==9.2.0 torch_geometric==2.8.1 nanobind==3.1.0 scikit-build-core==1.1.2
  safetensors==0.8.0 filelock==4.1.0 typing-extensions==4.16.0 sympy==1.14.0 networkx==3.4.2 jinja2==3.1.6
  fsspec==2026.9.0 'setuptools<82' tensorboard==2.21.0 pyarrow==25.0.1)
# What docs/PYG.md trains with, 22 MB; installed without what they ask for, which may be torch, and is here otherwise.
readonly framework_wheels=(pytorch-lightning==2.6.6 torchmetrics==1.9.0 lightning-utilities==0.15.3 PyYAML==6.0.4
  pytorch-ignite==0.5.5 optuna==5.0.0 alembic==1.20.1 Mako==1.4.3 SQLAlchemy==2.0.58 greenlet==3.5.6 colorlog==6.12.0
  tomli==2.5.0 pandas==2.3.3 python-dateutil==3.0.0 six==1.17.0 pytz==2026.6 tzdata==2026.6 accelerate==1.15.0
  huggingface_hub==2.4.0)

# python_with_headers: the first Python 3.10 or later with headers and venv, one that the wheel's torch suits if there
# is one.
python_with_headers() {
  local python suffix found=
  for python in python3 /usr/bin/python3; do
    suffix=$("$python" -c 'import ensurepip, pathlib, sys, sysconfig, venv
assert sys.version_info >= (3, 10) and pathlib.Path(sysconfig.get_path("include"), "Python.h").exists()
print(sysconfig.get_config_var("EXT_SUFFIX"))' 2>/dev/null) || continue
    found=${found:-$python}
    if [ -e "$(torch_folder)/torch/_C$suffix" ]; then found=$python && break; fi
  done
  [ -n "$found" ] || die 66 "no Python 3.10 or later with headers and venv; install ${python_packages[*]}"
  echo "$found"
}

# python_folder: where the environment is. Clones that want other packages have another folder, so that none disturbs
# the other.
python_folder() {
  local wheels=("${python_wheels[@]}" "${framework_wheels[@]}")
  printf '%s/python-%s-%s' "$cache" "$torch_version" "$(printf '%s\n' "${wheels[@]}" | sha256sum | head -c 8)"
}

# pip_install WORD...: into the environment. Needs wheels.sh.
pip_install() {
  "$(python_folder)/bin/python3" -m pip --disable-pip-version-check install -q "$@" >"$cache/pip.log" 2>&1 ||
    die_of_pip "$cache/pip.log" "$*"
}

# install_python: makes it, where it is not complete or its Python or torch is gone. Its torch is LibTorch's folder,
# which is the whole wheel in a CUDA build; where that cannot be imported, pip's.
install_python() {
  local folder python link
  folder=$(python_folder)
  if [ -f "$folder/.complete" ] && "$folder/bin/python3" -c 'import torch' 2>/dev/null; then return 0; fi
  python=$(python_with_headers)
  say "making the tests' Python environment in $folder, once"
  rm -rf "$folder"
  "$python" -m venv "$folder" || die 74 "could not make $folder"
  pip_install "${python_wheels[@]}"
  pip_install --no-deps "${framework_wheels[@]}"
  link=$("$folder/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/libtorch.pth
  torch_folder >"$link"
  if ! "$folder/bin/python3" -c 'import torch' 2>/dev/null; then
    rm "$link"
    need_space "$cache" 8000 "torch of the Python tests"
    say "downloading torch $torch_version with its CUDA libraries (3 GB): PyPI has no other"
    pip_install "torch==$torch_version"
  fi
  touch "$folder/.complete"
}

# name_other_environments: those that clones with other lists of packages made, and nothing removes.
name_other_environments() {
  local others=() folder
  for folder in "$cache/python" "$cache"/python-*; do
    if [ -d "$folder" ] && [ "$folder" != "$(python_folder)" ]; then others+=("$folder"); fi
  done
  [ ${#others[@]} -eq 0 ] ||
    say "Python environments of other clones or versions; where none uses them any more: rm -r ${others[*]}"
}

# Run as a program it prints the folder.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  program=python
  . "$(dirname "$0")/common.sh"
  python_folder
fi
