// tests/support/hops.h - generated hops, from none to many edges, with empty rows and rows that repeat an entry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "models/kernels/segment.h"

namespace salient::test {

struct OwnedHop {
  std::int64_t num_dst = 0;
  std::int64_t num_src = 0;
  std::vector<LocalId> indptr{0};
  std::vector<LocalId> indices{};

  HopEdges edges() const { return {indptr.data(), indices.data(), num_dst, num_src}; }
};

/// Every third row is empty; the others have 1 to max_degree entries, drawn with replacement.
inline OwnedHop random_hop(std::int64_t num_dst, std::int64_t num_src, LocalId max_degree, std::uint32_t seed) {
  std::mt19937 random(seed);
  OwnedHop hop{num_dst, num_src};
  for (std::int64_t i = 0; i < num_dst; ++i) {
    const auto degree = i % 3 == 2 ? 0 : 1 + static_cast<LocalId>(random() % static_cast<std::uint32_t>(max_degree));
    for (LocalId d = 0; d < degree; ++d)
      hop.indices.push_back(static_cast<LocalId>(random() % static_cast<std::uint64_t>(num_src)));
    hop.indptr.push_back(static_cast<LocalId>(hop.indices.size()));
  }
  return hop;
}

/// The degrees of a hop that is a whole graph: entries and self loops of each row, one after the other.
inline std::vector<LocalId> whole_graph_degrees(const OwnedHop& hop) {
  std::vector<LocalId> degrees;
  for (std::size_t i = 0; i < static_cast<std::size_t>(hop.num_dst); ++i) {
    const auto first = hop.indices.begin() + hop.indptr[i], last = hop.indices.begin() + hop.indptr[i + 1];
    degrees.push_back(hop.indptr[i + 1] - hop.indptr[i]);
    degrees.push_back(static_cast<LocalId>(std::count(first, last, static_cast<LocalId>(i))));
  }
  return degrees;
}

/// Values of about unit size with all mantissa bits in use, so that another order of summation shows.
inline std::vector<float> random_values(std::int64_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = std::uniform_real_distribution<float>(-2, 2)(random);
  return values;
}

}  // namespace salient::test
