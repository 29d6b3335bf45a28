// sampler/labor_choice.cpp - see labor_choice.h.
//
// Entries are candidates until there are twice as many as wanted; then the better half is kept, and its worst is the
// limit that later entries must pass. Of a long row nearly none do.
#include "sampler/labor_choice.h"

#include <algorithm>
#include <limits>

#include "sampler/draw_lanes.h"

namespace salient {

void LaborChoice::pick(std::span<const NodeId> row, std::uint32_t count, BatchKey key, std::uint32_t hop,
                       const NodeId** picked) {
  constexpr std::size_t kLanes = DrawLanes::kLanes;
  constexpr std::size_t kLeast = 64;  // candidates before the first selection: most rows need no other
  const std::size_t most = std::max(kLeast, std::size_t{2} * count) + kLanes;
  if (candidates_.size() < most) candidates_.resize(most);
  Candidate* const first = candidates_.data();
  std::size_t size = 0;
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  const auto keep_best = [&] {
    std::nth_element(first, first + count - 1, first + size);
    size = count;
    limit = first[count - 1].number_and_id;
  };
  for (std::size_t place = 0; place < row.size(); place += kLanes) {
    NodeId ids[kLanes] = {};
    std::uint32_t numbers[kLanes];
    const std::size_t num_ids = std::min(kLanes, row.size() - place);
    std::copy_n(row.begin() + static_cast<std::ptrdiff_t>(place), num_ids, ids);
    DrawLanes::shared_numbers(key, hop, ids, numbers);
    bool may_pass = false;
    for (const std::uint32_t number : numbers) may_pass |= number <= limit >> 32;
    if (!may_pass) continue;
    for (std::size_t i = 0; i < num_ids; ++i) {
      first[size] = {std::uint64_t{numbers[i]} << 32 | ids[i], static_cast<std::uint32_t>(place + i)};
      size += first[size].number_and_id < limit;  // an equal one comes later, and so is worse
    }
    if (size + kLanes > most) keep_best();
  }
  if (size > count) keep_best();
  std::sort(first, first + count, [](const Candidate& a, const Candidate& b) { return a.place < b.place; });
  for (std::uint32_t i = 0; i < count; ++i) picked[i] = row.data() + first[i].place;
}

}  // namespace salient
