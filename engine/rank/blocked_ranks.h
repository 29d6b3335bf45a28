// engine/rank/blocked_ranks.h - the ranks of targets among all candidates, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/types.h"
#include "engine/rank/ordered_product.h"
#include "engine/rank/rank_metrics.h"

namespace salient {

/// Queries in the order of their targets; the score of a candidate is that of its row and the query's.
struct RankProblem {
  PairScore kind = PairScore::kDot;
  std::int64_t width = 0;
  const float* candidates = nullptr;  ///< [num_candidates, width]
  std::uint64_t num_candidates = 0;
  NodeId first = 0;                   ///< the id of candidate 0, behind which are those of the others
  std::span<const NodeId> targets{};  ///< [Q] ids of candidates
  /// Writes the rows of queries begin, begin + 1, ... to out [end - begin, width]. Called from one thread.
  std::function<void(std::size_t begin, std::size_t end, float* out)> queries{};
  /// Ids of candidates that are no competitors of query q, ascending: known links. The target among them is one itself.
  /// Called from several threads.
  std::function<std::span<const NodeId>(std::size_t q)> known{};
};

/// How many queries and candidates are scored at a time.
struct RankBlocks {
  std::int64_t queries = 0, candidates = 0;
};

/// Blocks that take at most so many bytes, whatever the problem's size: scores, rows of queries, copies of candidates.
/// At least 6 queries and 16 candidates.
RankBlocks rank_blocks(std::uint64_t bytes, std::int64_t width);

inline constexpr std::uint64_t kDefaultRankBytes = std::uint64_t{64} << 20;

/// [Q] of each query the candidates that its target competes with and whose scores are above the target's, or equal.
///
/// A score is the same in every block (ordered_product.h), so neither memory nor threads change a count.
/// @throws Error{kDiverged} naming the query whose target's score is not a number
/// Runs on the caller's oneTBB arena. Cost: 2 Q num_candidates width operations.
/// Oracle: ranks_reference()
std::vector<RankCounts> blocked_ranks(const RankProblem& problem, std::uint64_t bytes = kDefaultRankBytes);

/// The same, pair by pair.
std::vector<RankCounts> ranks_reference(const RankProblem& problem);

}  // namespace salient
