// core/host/threads.h - threads that the system may refuse, and their stacks.
#pragma once

#include <functional>

namespace salient {

/// Starts `count` threads and ends them again: for libraries that hang, or end the process, where they get none.
/// @throws std::system_error{EAGAIN}, which as_error() knows, when a limit of the user or the control group is reached
void require_threads(int count);

/// Calls work(0) ... work(count - 1), each on a thread of its own, and returns when all are over. All begin together;
/// none does where one of the threads is refused.
/// @throws as require_threads(); else what the first of them threw
void run_on_threads(int count, const std::function<void(int)>& work);

/// Gives all threads that are started from now on, those of libraries too, at least 8 MiB of stack, whatever
/// `ulimit -s` says: a product of matrices on a stack of 256 KiB ends the process. The main thread's is the limit's.
void set_thread_stacks() noexcept;

}  // namespace salient
