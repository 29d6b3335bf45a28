# scripts/lib/languages.sh - a virtual environment with the compilers of kernels in Python, and a disassembler.
# shellcheck shell=bash

# Triton, CuTe's Python, TileLang and cuTile with its compiler. 1.5 GB with all that they ask for; TileLang asks for
# torch, too, which is LibTorch's folder here. salient-kernels finds them at kernel-languages/bin in the cache.
readonly language_wheels=(triton==3.6.0 nvidia-cutlass-dsl==4.8.1 'cuda-tile[tileiras]==1.7.0'
  nvidia-cuda-nvdisasm==13.5.37)
readonly tilelang_wheels=(tilelang==0.1.15 'apache-tvm-ffi<0.1.13' cloudpickle ml-dtypes numpy psutil tqdm
  typing-extensions 'z3-solver<4.15.5')

# install_languages: makes it, where it is not complete.
install_languages() {
  local folder=$cache/kernel-languages wanted pip=()
  wanted=$(printf '%s\n' "${language_wheels[@]}" "${tilelang_wheels[@]}" | sha256sum | head -c 16)
  if [ "$(cat "$folder/.complete" 2>/dev/null)" = "$wanted" ]; then return 0; fi
  need_space "$cache" 4000 "compilers of kernels in Python"
  say "fetching Triton, CuTe's Python, TileLang and cuTile into $folder, once"
  rm -rf "$folder"
  "$(python_with_pip)" -m venv "$folder" || die 74 "could not make $folder"
  pip=("$folder/bin/python3" -m pip --disable-pip-version-check install -q)
  "${pip[@]}" "${language_wheels[@]}" >"$cache/pip.log" 2>&1 || die_of_pip "$cache/pip.log" "${language_wheels[*]}"
  "${pip[@]}" --no-deps "${tilelang_wheels[@]}" >"$cache/pip.log" 2>&1 ||
    die_of_pip "$cache/pip.log" "${tilelang_wheels[*]}"
  local modules
  modules=$("$folder/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  torch_folder >"$modules/libtorch.pth"
  ln -s "$modules/nvidia/cu13/bin/nvdisasm" "$folder/bin/nvdisasm"
  echo "$wanted" >"$folder/.complete"
}
