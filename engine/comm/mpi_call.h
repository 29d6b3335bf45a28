// engine/comm/mpi_call.h - mpi.h, and how its functions are called. Only for this folder's mpi_*.cpp.
#pragma once

#include <mpi.h>

#include <mutex>
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

/// Held by the thread that is inside MPI: MPI_THREAD_SERIALIZED allows one at a time.
inline std::mutex& mpi_turn() {
  static std::mutex turn;
  return turn;
}

/// call(arguments...), checked, when no other thread is inside MPI.
template <class... Parameters, class... Arguments>
void mpi_call(const char* name, int (*call)(Parameters...), Arguments... arguments) {
  const std::lock_guard turn(mpi_turn());
  mpi_check(call(arguments...), name);
}

}  // namespace salient
