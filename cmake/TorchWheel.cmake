# TorchWheel.cmake - LibTorch as scripts/setup.sh unpacks it from the PyPI wheel; makes salient::torch. Needs no Python.
#
# find_package(Torch) would switch CMAKE_CUDA_ARCHITECTURES off, append flags and ask for Python.

if(SALIENT_HAS_CUDA)
  set(variant cu130)
  set(setup "scripts/setup.sh")
else()
  set(variant cpu)
  set(setup "scripts/setup.sh --cpu")
endif()
if(DEFINED ENV{XDG_CACHE_HOME})
  set(cache "$ENV{XDG_CACHE_HOME}")
else()
  set(cache "$ENV{HOME}/.cache")
endif()
set(torch_version 2.11.0)  # that of scripts/lib/common.sh, which need not be here
if(NOT SALIENT_TORCH_DIR)  # not kept in CMake's cache: it must follow when a toolkit appears or goes
  set(SALIENT_TORCH_DIR "${cache}/salient/libtorch-${torch_version}-${variant}/torch")
endif()

if(NOT EXISTS "${SALIENT_TORCH_DIR}/version.py")
  message(FATAL_ERROR "LibTorch ${torch_version} is not in ${SALIENT_TORCH_DIR}; run ${setup}, or pass "
    "-DSALIENT_TORCH_DIR=...")
endif()
file(STRINGS "${SALIENT_TORCH_DIR}/version.py" version REGEX "^__version__")
string(FIND "${version}" "'${torch_version}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${SALIENT_TORCH_DIR} holds another LibTorch (${version}); ${torch_version} is needed: "
    "run ${setup}")
endif()

add_library(salient_torch INTERFACE IMPORTED GLOBAL)
add_library(salient::torch ALIAS salient_torch)
target_include_directories(salient_torch SYSTEM INTERFACE
  "${SALIENT_TORCH_DIR}/include" "${SALIENT_TORCH_DIR}/include/torch/csrc/api/include")
set(lib "${SALIENT_TORCH_DIR}/lib")
if(SALIENT_HAS_CUDA)  # --no-as-needed: no symbol names libtorch_cuda.so, without it the linker would drop it
  target_link_libraries(salient_torch INTERFACE -Wl,--no-as-needed "${lib}/libtorch_cuda.so" "${lib}/libtorch_cpu.so"
    -Wl,--as-needed "${lib}/libc10_cuda.so" "${lib}/libc10.so")
else()
  target_link_libraries(salient_torch INTERFACE "${lib}/libtorch_cpu.so" "${lib}/libc10.so")
endif()
target_link_options(salient_torch INTERFACE "LINKER:-rpath,${lib}")
if(SALIENT_HAS_CUDA)  # LibTorch must find a toolkit off the loader's path too: old-style RPATH holds for its libraries
  target_link_options(salient_torch INTERFACE LINKER:--disable-new-dtags "LINKER:-rpath,${CUDAToolkit_LIBRARY_DIR}")
endif()
