// tests/support/threads.h - runs an action on exactly so many oneTBB threads, also on a machine with fewer cores.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <cstddef>

namespace salient::test {

template <class Action>
void with_threads(int count, const Action& action) {
  using oneapi::tbb::global_control;
  const global_control limit(global_control::max_allowed_parallelism, static_cast<std::size_t>(count));
  oneapi::tbb::task_arena(count).execute(action);
}

}  // namespace salient::test
