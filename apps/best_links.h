// apps/best_links.h - for each of some nodes the likeliest links that it has not, as a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/types.h"
#include "engine/rank/best_candidates.h"
#include "engine/rank/known_links.h"
#include "sampler/link_seeds.h"
#include "store/dataset.h"
#include "store/node_ids.h"

namespace salient {

/// "source,destination", by their ids, or "source,relation,destination".
std::string link_text(const NodeIds& ids, const NodePair& link, const std::string& relation = {});

/// What is asked for.
struct BestLinks {
  const Dataset& dataset;
  std::span<const NodeId> nodes;    ///< one end of the links
  LinkSide side = LinkSide::kTail;  ///< which end is to be found
  std::uint16_t relation = 0;       ///< of a knowledge graph
  std::size_t k = 1;                ///< links of each node
  RankBlocks blocks{};              ///< of nodes and candidates, scored at a time

  /// Of a knowledge graph; else "".
  std::string relation_name() const {
    return dataset.types.is_typed() ? dataset.types.relations[relation].name : std::string();
  }
};

/// Writes the scores of links between nodes and the candidates first, first + 1, ... to out [nodes, count].
using LinkScores =
    std::function<void(std::span<const NodeId> nodes, std::int64_t first, std::int64_t count, float* out)>;

/// The best candidates of some nodes, without what they are linked with: what write_best_links() writes of them.
/// @param wanted  its nodes are not read    @param known  of its data set, by known_links_of()
std::vector<std::vector<ScoredNode>> find_best_links(const BestLinks& wanted, const KnownLinks& known,
                                                     std::span<const NodeId> nodes, const LinkScores& scores);

KnownLinks known_links_of(const Dataset& dataset);

/// Writes best.csv into `folder`: source, relation of a knowledge graph, destination, score, and rank from 1. Links of
/// the data set are left out, of all three splits, those of a plain graph that is symmetric in both directions; of a
/// plain graph the node itself, too. Nodes in their order, of equal scores the lower row first.
/// Memory: best_candidates() of 1,024 nodes at a time, the text, 32 bytes a link of the data set.
void write_best_links(const std::filesystem::path& folder, const BestLinks& wanted, const LinkScores& scores);

}  // namespace salient
