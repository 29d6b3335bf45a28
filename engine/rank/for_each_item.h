// engine/rank/for_each_item.h - a loop over items on the caller's oneTBB arena, for sources alone.
#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <cstdint>

namespace salient {

/// use(i) for i in [0, count), at least `per_task` neighbours in a task. Item i must not depend on another.
template <class Use>
void for_each_item(std::int64_t count, std::int64_t per_task, const Use& use) {
  using Range = oneapi::tbb::blocked_range<std::int64_t>;
  oneapi::tbb::parallel_for(Range(0, count, static_cast<std::size_t>(per_task)), [&use](const Range& range) {
    for (std::int64_t i = range.begin(); i < range.end(); ++i) use(i);
  });
}

}  // namespace salient
