// engine/paths/path_ranks.h - how well a path-based model ranks the links of a split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/links/link_ranks.h"
#include "engine/paths/path_inputs.h"
#include "store/dataset.h"

namespace salient {

struct PathRanking {
  const KnownLinks& known;                                   ///< left out as competitors
  std::span<const std::optional<std::uint32_t>> reverses{};  ///< as reverses_of()
  TieRule ties = TieRule::kRealistic;
};

/// Filtered ranks among all entities, or among the negatives that the data set comes with, as of embeddings; a question
/// that several links ask takes one pass.
/// @throws Error{kDiverged} naming the link whose score is not a number
/// Memory: as score_questions(), and 32 bytes a link. Runs on the caller's oneTBB arena; equal bits for any number of
/// threads.
LinkRanks rank_paths(const PathParameters& parameters, const PathGraph& graph, const Dataset& dataset,
                     std::size_t split, const PathRanking& how);

}  // namespace salient
