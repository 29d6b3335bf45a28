// engine/links/link_ranks.h - how well an embedding model ranks the links of a split, by relation and by side.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/links/embeddings.h"
#include "engine/links/link_query.h"
#include "engine/rank/blocked_ranks.h"
#include "engine/rank/known_links.h"
#include "engine/report/metric.h"
#include "store/graph_schema.h"
#include "store/link_negatives.h"

namespace salient {

/// Ranks of a split: of each relation's tails and heads.
struct LinkRanks {
  std::vector<std::array<RankTally, 2>> of_relation{};  ///< [relations], sides as in kLinkSides

  /// Over all relations of one side, or of both.
  RankTally all(std::optional<LinkSide> side = {}) const;
};

/// Links that are ranked, and how. Borrows all.
struct RankedLinks {
  const LinkTable& links;
  const GraphSchema& schema;
  std::span<const std::optional<std::uint32_t>> reverses;  ///< [relations] by which heads are asked for: reverses_of()
  TieRule ties = TieRule::kRealistic;
};

/// [links] of each side, as kLinkSides; empty where a side was not ranked.
using RanksOfSides = std::array<std::vector<double>, 2>;

/// Ranks every node of the type that is asked for, for both sides of each link; what `known` has of other ends is left
/// out.
/// Memory: at most `bytes` beside 32 bytes a link. Cost and determinism as blocked_ranks(), whose errors it throws.
RanksOfSides rank_links(const Embeddings& embeddings, const RankedLinks& of, const KnownLinks& known,
                        std::uint64_t bytes = kDefaultRankBytes);

/// The same among the negatives that a data set comes with: a link's tail among `given.destinations`, its head among
/// `given.sources`; a side without any is left out. OGB's rule for ogbl-wikikg2 and ogbl-biokg.
/// @throws Error{kDiverged} naming the link whose score is not a number
/// Runs on the caller's oneTBB arena. Memory: 4 bytes a link and side. Oracle: counts_among()
RanksOfSides rank_links_among(const Embeddings& embeddings, const RankedLinks& of, const GivenNegatives& given);

/// Sums over the links of each relation, in their order.
LinkRanks tally(const RanksOfSides& ranks, const LinkTable& links, std::size_t num_relations);

/// MRR and hits at 1, 3 and 10.
Figures figures_of(const RankTally& ranks);

/// A table, a line for each relation and side that has links: relation,side,links,mrr,hits_at_1,hits_at_3,hits_at_10
std::string ranks_csv(const LinkRanks& ranks, const GraphSchema& schema);

}  // namespace salient
