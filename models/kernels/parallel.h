// models/kernels/parallel.h - a loop over rows on the caller's oneTBB arena; host code only.
#pragma once

#include <oneapi/tbb/parallel_for.h>

#include <cstddef>
#include <cstdint>

namespace salient {

/// f(i) for i in [0, count), in tasks of about `per_task` neighbouring rows. Row i must not depend on another.
template <class F>
void parallel_rows(std::int64_t count, std::int64_t per_task, const F& f) {
  using Range = oneapi::tbb::blocked_range<std::int64_t>;
  oneapi::tbb::parallel_for(Range(0, count, static_cast<std::size_t>(per_task)), [&f](const Range& range) {
    for (std::int64_t i = range.begin(); i < range.end(); ++i) f(i);
  });
}

}  // namespace salient
