// prepare/importers/split.cpp - see split.h.
#include "prepare/importers/split.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/philox.h"

namespace salient {
namespace {

struct KeyedItem {
  std::uint64_t key;
  NodeId item;
  friend bool operator<(const KeyedItem& a, const KeyedItem& b) {
    return a.key != b.key ? a.key < b.key : a.item < b.item;
  }
};

/// floor(fraction * count) of the decimal fraction that the user typed: 0.29 * 100 is 29, though as doubles it is not.
std::size_t share_of(double fraction, std::size_t count) {
  return static_cast<std::size_t>(std::floor(fraction * static_cast<double>(count) + 1e-6));
}

}  // namespace

std::vector<NodeId> items_by_key(std::size_t count, std::uint64_t seed, std::uint32_t tag) {
  require(count < UINT32_MAX, "items fit into a NodeId");
  const PhiloxKey key{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  std::vector<KeyedItem> keyed(count);
  oneapi::tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    const auto item = static_cast<NodeId>(i);
    const PhiloxBlock x = philox4x32(key, {{item, 0, 0, tag}});
    keyed[i] = {std::uint64_t{x.word[0]} << 32 | x.word[1], item};
  });
  oneapi::tbb::parallel_sort(keyed.begin(), keyed.end());
  std::vector<NodeId> items(count);
  std::ranges::transform(keyed, items.begin(), &KeyedItem::item);
  return items;
}

std::vector<NodeId> permutation_by_key(std::size_t count, std::uint64_t seed, std::uint32_t tag) {
  const std::vector<NodeId> items = items_by_key(count, seed, tag);
  std::vector<NodeId> rank_of(count);
  for (std::size_t rank = 0; rank < count; ++rank) rank_of[items[rank]] = static_cast<NodeId>(rank);
  return rank_of;
}

bool are_fractions(std::span<const double, 3> parts) {
  return std::ranges::min(parts) >= 0 && parts[0] + parts[1] + parts[2] <= 1 + 1e-9;
}

Split parts_of(std::span<const NodeId> items, const std::array<std::size_t, 3>& ends) {
  const auto between = [&](std::size_t begin, std::size_t end) {
    return std::vector<NodeId>(items.begin() + static_cast<std::ptrdiff_t>(begin),
                               items.begin() + static_cast<std::ptrdiff_t>(end));
  };
  return {between(0, ends[0]), between(ends[0], ends[1]), between(ends[1], ends[2])};
}

std::array<std::size_t, 3> part_ends(std::size_t count, std::array<double, 3> fractions) {
  require(are_fractions(fractions), "a split has fractions");
  const double sum = fractions[0] + fractions[1] + fractions[2];
  const bool takes_all = sum > 1 - 1e-9, has_test = fractions[2] > 0;  // the last part that there is takes the rest
  const std::size_t train_end = share_of(fractions[0], count);
  const std::size_t valid_end = takes_all && !has_test ? count : train_end + share_of(fractions[1], count);
  const std::size_t test_end = takes_all ? count : valid_end + share_of(fractions[2], count);
  return {std::min(train_end, count), std::min(valid_end, count), std::min(test_end, count)};
}

Split split(std::size_t num_nodes, std::array<double, 3> fractions, std::uint64_t seed) {
  return parts_of(items_by_key(num_nodes, seed, kSplitTag), part_ends(num_nodes, fractions));
}

}  // namespace salient
