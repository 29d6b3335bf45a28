// core/host/threads.h - whether the system grants this process further threads.
#pragma once

namespace salient {

/// Starts `count` threads and ends them again: for libraries that hang, or end the process, where they get none.
/// @throws std::system_error{EAGAIN}, which as_error() knows, when a limit of the user or the control group is reached
void require_threads(int count);

}  // namespace salient
