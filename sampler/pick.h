// sampler/pick.h - which entries of a row uniform draws keep, on the host, as addresses.
#pragma once

#include <cstdint>

#include "core/types.h"
#include "sampler/taken_positions.h"

namespace salient {

inline void prefetch_once(const NodeId* entry) { __builtin_prefetch(entry, 0, 0); }  // read once: keep it out of L2

/// Up to so many, comparing with each is cheaper than any set.
inline constexpr std::uint32_t kFewKept = 32;

/// Stage "pick" for one row: addresses of `count` < degree distinct entries, by Floyd's method. The search for repeats
/// takes O(count^2) compares.
/// @param below  draw i, uniform in [0, bound)
template <class Below>
void pick(const NodeId* row, std::uint32_t degree, std::uint32_t count, const Below& below, const NodeId** picked) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t last = degree - count + i;
    const NodeId* choice = row + below(i, last + 1);  // both 0 and `last` are possible
    bool taken = false;
    for (std::uint32_t k = 0; k < i; ++k) taken |= picked[k] == choice;
    picked[i] = taken ? row + last : choice;
    prefetch_once(picked[i]);
  }
}

/// The same entries, in O(count).
template <class Below>
void pick_many(const NodeId* row, std::uint32_t degree, std::uint32_t count, const Below& below, TakenPositions& taken,
               const NodeId** picked) {
  taken.clear(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t last = degree - count + i;
    std::uint32_t choice = below(i, last + 1);
    if (!taken.add(choice)) (void)taken.add(choice = last);  // which no earlier draw reached
    picked[i] = row + choice;
    prefetch_once(picked[i]);
  }
}

/// The same with replacement; degree >= 1.
template <class Below>
void pick_with_replacement(const NodeId* row, std::uint32_t degree, std::uint32_t count, const Below& below,
                           const NodeId** picked) {
  for (std::uint32_t i = 0; i < count; ++i) {
    picked[i] = row + below(i, degree);
    prefetch_once(picked[i]);
  }
}

inline void pick_all(const NodeId* row, std::uint32_t count, const NodeId** picked) {
  for (std::uint32_t i = 0; i < count; ++i) {
    picked[i] = row + i;
    if (i % 16 == 0) prefetch_once(picked[i]);  // once per cache line
  }
}

}  // namespace salient
