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

Split split(std::size_t num_nodes, std::array<double, 3> fractions, std::uint64_t seed) {
  const double sum = fractions[0] + fractions[1] + fractions[2];
  require(are_fractions(fractions), "a split has fractions");
  const std::vector<NodeId> items = items_by_key(num_nodes, seed, kSplitTag);
  const auto at = [&](std::size_t position) {
    return items.begin() + static_cast<std::ptrdiff_t>(std::min(position, num_nodes));
  };
  const bool takes_all = sum > 1 - 1e-9, has_test = fractions[2] > 0;  // the last part that there is takes the rest
  const std::size_t train_end = share_of(fractions[0], num_nodes);
  const std::size_t valid_end = takes_all && !has_test ? num_nodes : train_end + share_of(fractions[1], num_nodes);
  const std::size_t test_end = takes_all ? num_nodes : valid_end + share_of(fractions[2], num_nodes);
  return {{at(0), at(train_end)}, {at(train_end), at(valid_end)}, {at(valid_end), at(test_end)}};
}

}  // namespace salient
