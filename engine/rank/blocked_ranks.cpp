// engine/rank/blocked_ranks.cpp - see blocked_ranks.h.
#include "engine/rank/blocked_ranks.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "engine/rank/for_each_item.h"

namespace salient {
namespace {

/// Counts of scores above one, and equal to it.
RankCounts counts_of(std::span<const float> scores, float own) {
  std::uint32_t greater = 0, equal = 0;
  for (const float score : scores) {
    greater += score > own;
    equal += score == own;
  }
  return {greater, equal};
}

/// One block of queries against all candidates.
class QueryBlock {
 public:
  QueryBlock(const RankProblem& problem, std::size_t begin, std::size_t end)
      : problem_(problem),
        begin_(begin),
        rows_((end - begin) * static_cast<std::size_t>(problem.width)),
        own_(end - begin) {
    problem.queries(begin, end, rows_.data());
    for (std::size_t i = 0; i < own_.size(); ++i) {
      own_[i] = score(i, problem.targets[begin + i]);
      if (std::isnan(own_[i]))
        fail(ErrorKind::kDiverged, "the score of link " + std::to_string(begin + i) + " is not a number");
    }
  }

  /// Adds the candidates first, first + 1, ... to the counts. @param scores  of [queries, count]
  void count(std::int64_t first, std::int64_t count, float* scores, std::span<RankCounts> counts) const {
    const std::int64_t width = problem_.width;
    pair_scores(problem_.kind, {std::ssize(own_), count, width}, {rows_.data(), width},
                {problem_.candidates + first * width, width}, scores, count);
    for_each_query([&](std::size_t i) {
      const RankCounts found =
          counts_of({scores + static_cast<std::int64_t>(i) * count, static_cast<std::size_t>(count)}, own_[i]);
      counts[i].greater += found.greater;
      counts[i].equal += found.equal;
    });
  }

  /// Takes the target itself, and known candidates, from the counts again.
  void leave_out_known(std::span<RankCounts> counts) const {
    for_each_query([&](std::size_t i) {
      const NodeId target = problem_.targets[begin_ + i];
      --counts[i].equal;
      if (!problem_.known) return;
      for (const NodeId candidate : problem_.known(begin_ + i)) {
        if (candidate == target) continue;
        const float other = score(i, candidate);
        counts[i].greater -= other > own_[i];
        counts[i].equal -= other == own_[i];
      }
    });
  }

 private:
  float score(std::size_t i, NodeId candidate) const {
    const std::int64_t width = problem_.width;
    return pair_score(problem_.kind, rows_.data() + static_cast<std::int64_t>(i) * width,
                      problem_.candidates + static_cast<std::int64_t>(candidate - problem_.first) * width, width);
  }

  template <class Use>
  void for_each_query(Use use) const {
    for_each_item(std::ssize(own_), 8, [&](std::int64_t i) { use(static_cast<std::size_t>(i)); });
  }

  const RankProblem& problem_;
  const std::size_t begin_;
  std::vector<float> rows_;
  std::vector<float> own_;
};

}  // namespace

RankBlocks rank_blocks(std::uint64_t bytes, std::int64_t width) {
  // 4 bytes for each of Q C scores and 2 Q W numbers of queries: Q from a quarter of the memory, at most 1,024.
  const auto floats = static_cast<std::int64_t>(bytes / sizeof(float));
  RankBlocks blocks;
  blocks.queries = std::clamp<std::int64_t>(floats / 4 / (2 * std::max<std::int64_t>(width, 1)), 6, 1024);
  const std::int64_t left = floats - 2 * blocks.queries * width;
  blocks.candidates = std::clamp<std::int64_t>(left / blocks.queries, 16, 1 << 16);
  return blocks;
}

std::vector<RankCounts> blocked_ranks(const RankProblem& problem, std::uint64_t bytes) {
  const RankBlocks blocks = rank_blocks(bytes, problem.width);
  std::vector<RankCounts> counts(problem.targets.size());
  const auto num_candidates = static_cast<std::int64_t>(problem.num_candidates);
  const auto num_queries = static_cast<std::size_t>(blocks.queries);
  std::vector<float> scores(std::min(counts.size(), num_queries) *
                            static_cast<std::size_t>(std::min(blocks.candidates, num_candidates)));
  for (std::size_t begin = 0; begin < counts.size(); begin += num_queries) {
    const std::size_t end = std::min(counts.size(), begin + num_queries);
    const QueryBlock queries(problem, begin, end);
    const std::span<RankCounts> here = std::span(counts).subspan(begin, end - begin);
    for (std::int64_t first = 0; first < num_candidates; first += blocks.candidates)
      queries.count(first, std::min(blocks.candidates, num_candidates - first), scores.data(), here);
    queries.leave_out_known(here);
  }
  return counts;
}

std::vector<RankCounts> ranks_reference(const RankProblem& problem) {
  std::vector<RankCounts> counts(problem.targets.size());
  std::vector<float> query(static_cast<std::size_t>(problem.width));
  for (std::size_t q = 0; q < counts.size(); ++q) {
    problem.queries(q, q + 1, query.data());
    const auto score = [&](NodeId candidate) {
      return pair_score(problem.kind, query.data(),
                        problem.candidates + static_cast<std::int64_t>(candidate - problem.first) * problem.width,
                        problem.width);
    };
    const std::span<const NodeId> known = problem.known ? problem.known(q) : std::span<const NodeId>();
    for (std::uint64_t i = 0; i < problem.num_candidates; ++i) {
      const auto candidate = static_cast<NodeId>(problem.first + i);
      if (candidate == problem.targets[q] || std::ranges::binary_search(known, candidate)) continue;
      counts[q].greater += score(candidate) > score(problem.targets[q]);
      counts[q].equal += score(candidate) == score(problem.targets[q]);
    }
  }
  return counts;
}

}  // namespace salient
