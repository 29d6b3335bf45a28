# targets.cmake - the only place that sets flags. One interface target carries them, three functions apply it.

add_library(salient_flags INTERFACE)
target_compile_features(salient_flags INTERFACE cxx_std_20)
target_include_directories(salient_flags INTERFACE  # "sampler/mfg.h", never "../mfg.h"
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
target_compile_definitions(salient_flags INTERFACE SALIENT_HAS_CUDA=$<BOOL:${SALIENT_HAS_CUDA}>)
target_compile_options(salient_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v3>  # AVX2, FMA, F16C: every x86 server and laptop since 2013
  # The rest is for this project, not for those that link its libraries.
  $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wsign-conversion;-Wshadow>>
  $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Werror=switch>>  # whoever adds to an enum sees every list that lacks it
  $<BUILD_INTERFACE:$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>>  # false for "literal" + std::string: bug 105651
  $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>>  # files named from the root
  $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=../../=>>  # likewise where ccache makes paths relative
  $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;-Xcompiler=-Wall,-Wextra,-Wshadow;-lineinfo>>)
if(SALIENT_SANITIZE)
  target_compile_definitions(salient_flags INTERFACE _GLIBCXX_ASSERTIONS)
  target_compile_options(salient_flags INTERFACE
    -fsanitize=${SALIENT_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer)
  target_link_options(salient_flags INTERFACE -fsanitize=${SALIENT_SANITIZE})
endif()

if(SALIENT_FUZZ)  # all code is instrumented, so that the search sees which way an input took
  target_compile_options(salient_flags INTERFACE
    -fsanitize=fuzzer-no-link,address,undefined;-fno-sanitize-recover=all;-fno-omit-frame-pointer)
  target_link_options(salient_flags INTERFACE -fsanitize=address,undefined)
endif()

# salient_library(<name> HEADERS <h>... [SOURCES <cpp|cu>...] [DEPS <target>...] [PRIVATE_DEPS <target>...])
# Makes salient::<name>. Each header is also compiled alone (target all_verify_interface_header_sets).
function(salient_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "HEADERS;SOURCES;DEPS;PRIVATE_DEPS")
  if(ARG_SOURCES)
    set(scope PUBLIC)
    add_library(salient_${name} STATIC ${ARG_SOURCES})
  else()
    set(scope INTERFACE)
    add_library(salient_${name} INTERFACE)
  endif()
  add_library(salient::${name} ALIAS salient_${name})
  set_property(GLOBAL APPEND PROPERTY SALIENT_LIBRARIES ${name})
  target_sources(salient_${name} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HEADERS})
  target_link_libraries(salient_${name} ${scope} salient_flags ${ARG_DEPS})
  if(ARG_PRIVATE_DEPS)
    target_link_libraries(salient_${name} PRIVATE ${ARG_PRIVATE_DEPS})
  endif()
endfunction()

# The end of a test that hangs: ten times what the longest takes on 2 cores.
set(SALIENT_TEST_LIMIT_S 2400)

# Gives a test's mpirun a folder of its own: OpenMPI 4.1 removes one that it shares, with the last of its runs, while
# another run is making it.
function(salient_own_mpi_folder name)
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
    OMPI_MCA_orte_tmpdir_base=${PROJECT_BINARY_DIR}/mpi/${name}
    PRTE_MCA_prte_tmpdir_base=${PROJECT_BINARY_DIR}/mpi/${name})
endfunction()

# salient_test(<name> LABEL unit|property|gpu|mpi|golden|integration SOURCES <cpp>... [DEPS <target>...] [RANKS <n>...])
# One ctest entry per binary and rank count; a process per case would pay CUDA and MPI start-up every time.
function(salient_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "LABEL" "SOURCES;DEPS;RANKS")
  if(ARG_RANKS AND NOT MPIEXEC_EXECUTABLE)
    message(STATUS "no MPI: test ${name} is left out")
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE salient_flags ${ARG_DEPS})
  if(ARG_RANKS)
    target_link_libraries(${name} PRIVATE salient_test_mpi_main)  # tests/support/mpi_main.cpp
    foreach(n IN LISTS ARG_RANKS)
      add_test(NAME ${name}.np${n}
        COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${n} ${SALIENT_MPIEXEC_FLAGS} $<TARGET_FILE:${name}>)
      set_tests_properties(${name}.np${n} PROPERTIES LABELS ${ARG_LABEL}
        TIMEOUT ${SALIENT_TEST_LIMIT_S} PROCESSORS ${n} SKIP_RETURN_CODE 77)
      salient_own_mpi_folder(${name}.np${n})
    endforeach()
  else()
    if(ARG_LABEL STREQUAL gpu)
      target_link_libraries(${name} PRIVATE salient_test_gpu_main)  # tests/support/gpu_main.cpp
    else()
      target_link_libraries(${name} PRIVATE GTest::gtest_main)
    endif()
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${SALIENT_TEST_LIMIT_S}
      SKIP_RETURN_CODE 77)
  endif()
endfunction()

# salient_bench(<name> SOURCES <cpp|cu>... [DEPS <target>...]): a Google Benchmark program, never part of ctest.
function(salient_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;DEPS")
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE salient_flags benchmark::benchmark_main ${ARG_DEPS})
endfunction()

# salient_program(<name> SOURCES <cpp>... [DEPS <target>...]): one of the programs users start, in build/<preset>/bin.
# The target `programs` is all of them.
function(salient_program name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;DEPS")
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE salient_flags ${ARG_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  if(NOT TARGET programs)
    add_custom_target(programs)
  endif()
  add_dependencies(programs ${name})
endfunction()
