// loaders/pair_features.cpp - see pair_features.h.
#include "loaders/pair_features.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/time_gap.h"

namespace salient {
namespace {

struct Neighbour {
  NodeId node;
  std::int64_t time;
};

/// The neighbours of each seed, ascending by (node, time).
class SortedRows {
 public:
  SortedRows(const SeedEntries& entries, std::size_t num_seeds)
      : begin_(entries.indptr, entries.indptr + num_seeds + 1) {
    for (LocalId e = 0; e < begin_.back(); ++e)
      all_.push_back({entries.nodes[static_cast<std::size_t>(entries.indices[e])],
                      entries.times[static_cast<std::size_t>(entries.places[e])]});
    for (std::size_t seed = 0; seed < num_seeds; ++seed)
      std::sort(
          all_.begin() + begin_[seed], all_.begin() + begin_[seed + 1],
          [](const Neighbour& a, const Neighbour& b) { return a.node != b.node ? a.node < b.node : a.time < b.time; });
  }
  std::span<const Neighbour> of(LocalId seed) const {
    const auto s = static_cast<std::size_t>(seed);
    return std::span(all_).subspan(static_cast<std::size_t>(begin_[s]),
                                   static_cast<std::size_t>(begin_[s + 1] - begin_[s]));
  }

 private:
  std::vector<LocalId> begin_;
  std::vector<Neighbour> all_;
};

std::span<const Neighbour> with_node(std::span<const Neighbour> row, NodeId node) {
  const auto found = std::ranges::equal_range(row, node, {}, &Neighbour::node);
  return {found.begin(), found.end()};
}

std::size_t num_common(std::span<const Neighbour> a, std::span<const Neighbour> b) {
  std::size_t count = 0, i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i].node == b[j].node) ++count;
    const bool first = a[i].node <= b[j].node, second = b[j].node <= a[i].node;
    i += first, j += second;
  }
  return count;
}

float log_of(std::size_t count) { return std::log1p(static_cast<float>(count)); }

}  // namespace

void write_pair_features(const SeedEntries& entries, std::span<const LocalId> pairs,
                         std::span<const std::int64_t> seed_times, float* out) {
  const SortedRows rows(entries, seed_times.size());
  for (std::size_t p = 0; p < pairs.size(); p += 2, out += kPairFeatures) {
    const LocalId source = pairs[p], destination = pairs[p + 1];
    const std::span<const Neighbour> of_source = rows.of(source), of_destination = rows.of(destination);
    // seeds are the first nodes of a batch
    const auto there = with_node(of_source, entries.nodes[static_cast<std::size_t>(destination)]);
    const auto back = with_node(of_destination, entries.nodes[static_cast<std::size_t>(source)]);
    out[0] = log_of(there.size());
    out[1] = log_of(back.size());
    out[2] = log_of(num_common(of_source, of_destination));
    out[3] = 0;
    for (const auto met : {there, back})
      if (!met.empty())
        out[3] = std::max(out[3], 1 / (1 + log_gap(seed_times[static_cast<std::size_t>(source)], met.back().time)));
  }
}

}  // namespace salient
