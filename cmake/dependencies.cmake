# dependencies.cmake - every outside library, found once. Versions and reasons: third_party/README.md.
find_package(Threads REQUIRED)
foreach(package TBB ZLIB nlohmann_json spdlog)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "the library ${package} is not installed; run scripts/setup.sh")
  endif()
endforeach()

# salient_find(<name> <package> <header> [<library>]): makes salient::<name> of a library without a CMake package.
function(salient_find name package header)
  string(TOUPPER ${name} prefix)
  find_path(${prefix}_INCLUDE_DIR ${header})
  if(ARGN)
    find_library(${prefix}_LIBRARY ${ARGN})
  else()  # headers alone
    set(${prefix}_LIBRARY "")
  endif()
  if(NOT ${prefix}_INCLUDE_DIR OR (ARGN AND NOT ${prefix}_LIBRARY))
    message(FATAL_ERROR "the library ${package} is not installed; run scripts/setup.sh")
  endif()
  add_library(salient_${name} INTERFACE IMPORTED GLOBAL)
  add_library(salient::${name} ALIAS salient_${name})
  target_include_directories(salient_${name} SYSTEM INTERFACE "${${prefix}_INCLUDE_DIR}")
  target_link_libraries(salient_${name} INTERFACE ${${prefix}_LIBRARY})
endfunction()

salient_find(xxhash xxHash xxhash.h xxhash)
salient_find(hwloc hwloc hwloc.h hwloc)
salient_find(tomlplusplus toml++ toml++/toml.h)  # the package also has a library, which would be needed at run time
target_compile_definitions(salient_tomlplusplus INTERFACE TOML_HEADER_ONLY=1)

# MPI and NCCL are for several ranks; a build without them has one. Debian's mpi.h includes the removed C++ bindings.
find_package(MPI QUIET COMPONENTS C)
if(MPI_C_FOUND)
  set(SALIENT_HAS_MPI ON)
  add_library(salient_mpi INTERFACE IMPORTED GLOBAL)
  target_link_libraries(salient_mpi INTERFACE MPI::MPI_C)
  target_compile_definitions(salient_mpi INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  # For tests: more ranks than cores, root in a container, no binding; transports that need no ptrace between ranks.
  if(MPI_C_LIBRARY_VERSION_STRING MATCHES "Open MPI" OR MPI_C_INCLUDE_DIRS MATCHES "openmpi")
    find_program(SALIENT_SSH NAMES ssh rsh)
    if(NOT SALIENT_SSH)  # mpirun insists on an agent, even for ranks of this host alone
      set(agent --mca plm_rsh_agent true)
    endif()
    set(SALIENT_MPIEXEC_FLAGS --allow-run-as-root --oversubscribe --bind-to none
      --mca btl_vader_single_copy_mechanism none ${agent} CACHE STRING "what the tests pass to mpiexec")
  endif()
  message(STATUS "MPI: ${MPIEXEC_EXECUTABLE}")
else()
  message(STATUS "no MPI: programs run as one rank; install libopenmpi-dev for more (scripts/setup.sh does)")
endif()
if(SALIENT_HAS_CUDA)
  # The toolkit's, the system's, or the wheel that scripts/setup.sh puts beside LibTorch's where neither has one.
  set(wheel "${SALIENT_TORCH_DIR}/../nvidia/nccl")
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS "${wheel}/include")
  find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${CUDAToolkit_LIBRARY_DIR} PATHS "${wheel}/lib")
  if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    set(SALIENT_HAS_NCCL ON)
    add_library(salient_nccl INTERFACE IMPORTED GLOBAL)
    target_include_directories(salient_nccl SYSTEM INTERFACE "${NCCL_INCLUDE_DIR}")
    target_link_libraries(salient_nccl INTERFACE "${NCCL_LIBRARY}")
    message(STATUS "NCCL: ${NCCL_LIBRARY}")
  else()
    message(STATUS "no NCCL: ranks exchange gradients through the host, slowly; "
      "install libnccl-dev, or run scripts/setup.sh")
  endif()
endif()
