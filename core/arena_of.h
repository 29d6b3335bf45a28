// core/arena_of.h - the threads that one operation runs on.
#pragma once

#include <oneapi/tbb/task_arena.h>

namespace salient {

/// @param num_threads  0 = all cores
inline oneapi::tbb::task_arena arena_of(int num_threads) {
  return oneapi::tbb::task_arena(num_threads > 0 ? num_threads : oneapi::tbb::task_arena::automatic);
}

}  // namespace salient
