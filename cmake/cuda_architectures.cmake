# cuda_architectures.cmake - which GPUs to compile for, unless -DCMAKE_CUDA_ARCHITECTURES says it: those of this
# machine, else A100 and H100/H200, and through the latter's PTX everything newer.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE gpus OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed STREQUAL "0" AND gpus MATCHES "^[0-9]+\\.[0-9]")
    string(REGEX REPLACE "\\." "" gpus "${gpus}")
    string(REGEX MATCHALL "[0-9]+" gpus "${gpus}")
    list(REMOVE_DUPLICATES gpus)
    set(CMAKE_CUDA_ARCHITECTURES ${gpus})
  else()
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  endif()
endif()
