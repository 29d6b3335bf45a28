# NvToolsExt.cmake - a target that FindCUDAToolkit of CMake 3.25 marks as deprecated, there or not. CUDA 13 has no such
# library, so finding its toolkit would fail. Before find_package(CUDAToolkit); nothing links it.
if(NOT TARGET CUDA::nvToolsExt)
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()
