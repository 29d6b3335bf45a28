// engine/rank/best_candidates.cpp - see best_candidates.h.
#include "engine/rank/best_candidates.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "engine/rank/for_each_item.h"

namespace salient {
namespace {

bool is_better(const ScoredNode& a, const ScoredNode& b) {
  return a.score > b.score || (a.score == b.score && a.node < b.node);
}

/// A heap of the k best, the worst of them in front.
void keep_best(std::vector<ScoredNode>& best, std::size_t k, const ScoredNode& candidate) {
  if (best.size() == k) {
    if (!is_better(candidate, best.front())) return;
    std::ranges::pop_heap(best, is_better);
    best.pop_back();
  }
  best.push_back(candidate);
  std::ranges::push_heap(best, is_better);
}

}  // namespace

std::vector<std::vector<ScoredNode>> best_candidates(const CandidateProblem& problem, std::size_t k,
                                                     const RankBlocks& blocks) {
  std::vector<std::vector<ScoredNode>> best(problem.num_queries);
  if (k == 0) return best;
  const auto num_candidates = static_cast<std::int64_t>(problem.num_candidates);
  std::vector<float> scores(static_cast<std::size_t>(std::min(blocks.queries, std::ssize(best)) *
                                                     std::min(blocks.candidates, num_candidates)));
  const auto keep_block = [&](std::size_t q, std::int64_t first, std::span<const float> row) {
    const std::span<const NodeId> left_out = problem.left_out ? problem.left_out(q) : std::span<const NodeId>();
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto node = static_cast<NodeId>(first + static_cast<std::int64_t>(c));
      if (std::isnan(row[c]))
        fail(ErrorKind::kDiverged,
             "the score of query " + std::to_string(q) + " and node " + std::to_string(node) + " is not a number");
      const ScoredNode candidate{node, row[c]};
      const bool is_kept = best[q].size() < k || is_better(candidate, best[q].front());
      if (is_kept && !std::ranges::binary_search(left_out, node)) keep_best(best[q], k, candidate);
    }
  };
  for (std::size_t begin = 0; begin < best.size(); begin += static_cast<std::size_t>(blocks.queries)) {
    const std::size_t end = std::min(best.size(), begin + static_cast<std::size_t>(blocks.queries));
    for (std::int64_t first = 0; first < num_candidates; first += blocks.candidates) {
      const std::int64_t count = std::min(blocks.candidates, num_candidates - first);
      problem.scores(begin, end, first, count, scores.data());
      for_each_item(static_cast<std::int64_t>(end - begin), 1, [&](std::int64_t i) {
        keep_block(begin + static_cast<std::size_t>(i), first,
                   {scores.data() + i * count, static_cast<std::size_t>(count)});
      });
    }
  }
  for (std::vector<ScoredNode>& of_query : best) std::ranges::sort_heap(of_query, is_better);
  return best;
}

}  // namespace salient
