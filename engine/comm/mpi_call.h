// engine/comm/mpi_call.h - mpi.h, and the check around each of its functions. Only for this folder's mpi_*.cpp.
#pragma once

#include <mpi.h>

#include <string>

#include "core/error.h"

namespace salient {

/// @throws Error{kComm} with MPI's own words unless `status` is MPI_SUCCESS.
inline void mpi_check(int status, const char* call) {
  if (status == MPI_SUCCESS) [[likely]]
    return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  (void)MPI_Error_string(status, text, &length);
  fail(ErrorKind::kComm, std::string(call) + ": " + text);
}

}  // namespace salient
