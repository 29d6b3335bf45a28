// engine/rank/best_candidates.h - the best candidates of queries, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/types.h"
#include "engine/rank/blocked_ranks.h"

namespace salient {

struct ScoredNode {
  NodeId node = 0;
  float score = 0;

  bool operator==(const ScoredNode&) const = default;
};

/// Queries and the candidates that each is scored with.
struct CandidateProblem {
  std::size_t num_queries = 0;
  std::uint64_t num_candidates = 0;
  /// Writes the scores of queries [begin, end) and candidates first, first + 1, ... to out [end - begin, count]. Called
  /// from one thread.
  std::function<void(std::size_t begin, std::size_t end, std::int64_t first, std::int64_t count, float* out)> scores{};
  /// Candidates that query q has not, ascending: known links. Null: it has all. Called from several threads.
  std::function<std::span<const NodeId>(std::size_t q)> left_out{};
};

/// [num_queries] the k best candidates of each query, the best first, of equal scores the lower number first; fewer
/// where there are not as many.
/// @param blocks  how many queries and candidates are scored at a time: memory is a float for each pair of a block,
///                beside the result
/// @throws Error{kDiverged} naming the query and the candidate whose score is not a number
/// Runs on the caller's oneTBB arena.
std::vector<std::vector<ScoredNode>> best_candidates(const CandidateProblem& problem, std::size_t k,
                                                     const RankBlocks& blocks);

}  // namespace salient
