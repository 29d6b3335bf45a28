# compiler.cmake - choices about the compiler that a user may override with -D: ccache, and warnings as errors.

# ccache where it is installed. The base folder lets clones share results.
find_program(SALIENT_CCACHE ccache)
if(SALIENT_CCACHE)
  foreach(language C CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 ${SALIENT_CCACHE})
    endif()
  endforeach()
endif()

# Warnings are errors with the compiler that we develop with; another version's new warning must not stop a user.
if(NOT DEFINED CMAKE_COMPILE_WARNING_AS_ERROR AND CMAKE_CXX_COMPILER_ID STREQUAL GNU
   AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12 AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()
