// tests/support/excluded_keys.h - random entries that a batch must not see, as keys and as places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "core/csr_graph.h"
#include "sampler/exclusions.h"

namespace salient::test {

/// Of some rows some neighbours, now and then twice or one that the row lacks; of every 7th row all. In any order.
inline std::vector<EntryKey> random_keys(const CsrGraph& graph, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<EntryKey> keys;
  for (std::uint32_t row = 0; row < graph.num_rows(); row += 1 + static_cast<std::uint32_t>(random() % 3)) {
    for (const NodeId neighbor : graph.row(row))
      if (row % 7 == 0 || random() % 3 == 0) keys.insert(keys.end(), 1 + random() % 2, entry_key(row, neighbor));
    if (random() % 4 == 0) keys.push_back(entry_key(row, static_cast<NodeId>(random() % graph.num_nodes())));
  }
  std::ranges::shuffle(keys, random);
  return keys;
}

inline Exclusions exclusions_of(const CsrGraph& graph, std::span<const EntryKey> keys) {
  Exclusions excluded;
  for (const EntryKey key : keys) excluded.add_entries(graph, key);
  excluded.finish();
  return excluded;
}

}  // namespace salient::test
