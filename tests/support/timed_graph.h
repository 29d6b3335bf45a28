// tests/support/timed_graph.h - generated graphs whose entries have weights and times, and rules of times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/csr_graph.h"
#include "core/philox.h"
#include "sampler/time_rule.h"
#include "tests/support/graphs.h"

namespace salient::test {

struct TimedGraph : WeightedGraph {
  std::vector<std::int64_t> times{};
  CsrGraph view() const { return {indptr, indices, nullptr, {weights, times}}; }
};

/// Times 0 to `most`, so few that most are equal to others of the row.
inline TimedGraph timed(WeightedGraph graph, std::uint32_t most) {
  TimedGraph made{std::move(graph)};
  for (std::size_t e = 0; e < made.indices.size(); ++e)
    made.times.push_back(philox4x32({{5, 5}}, {{static_cast<std::uint32_t>(e), 0, 0, 0}}).word[0] % (most + 1));
  for (std::size_t v = 0; v + 1 < made.indptr.size(); ++v)
    std::sort(made.times.begin() + made.indptr[v], made.times.begin() + made.indptr[v + 1]);
  return made;
}

inline std::vector<TimeRule> all_time_rules() {
  std::vector<TimeRule> rules;
  for (const auto& [order, order_name] : names_of(TimeOrder{}))
    for (const auto& [strategy, strategy_name] : names_of(TimeStrategy{}))
      for (const std::optional<std::int64_t> window : {std::optional<std::int64_t>(), {1}, {7}, {1'000'000}})
        rules.push_back({order, window, strategy});
  return rules;
}

}  // namespace salient::test
