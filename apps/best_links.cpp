// apps/best_links.cpp - see best_links.h.
#include "apps/best_links.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/console/log.h"
#include "core/csv_text.h"
#include "core/files/replace_text_file.h"
#include "core/number_text.h"

namespace salient {
namespace {

constexpr std::size_t kChunk = 1024;  // nodes whose best links are in memory

std::string id_text(const NodeIds& ids, NodeId node) {
  return ids.empty() ? std::to_string(node) : csv_field(ids[node]);
}

/// What a node cannot be linked to, ascending.
std::vector<NodeId> partners_of(const BestLinks& wanted, const KnownLinks& known, NodeId node) {
  const std::span<const NodeId> linked = known.of(wanted.side, wanted.relation, node);
  std::vector<NodeId> all(linked.begin(), linked.end());
  if (!wanted.dataset.types.is_typed()) all.insert(std::ranges::lower_bound(all, node), node);
  return all;
}

/// The nodes that may be the end that is to be found: of a typed graph those of its type.
std::pair<NodeId, std::uint64_t> candidates_of(const BestLinks& wanted) {
  const Dataset& dataset = wanted.dataset;
  if (!dataset.types.is_typed()) return {0, dataset.num_nodes()};
  const Relation& relation = dataset.types.relations[wanted.relation];
  const auto type = static_cast<std::size_t>(wanted.side == LinkSide::kTail ? relation.dst : relation.src);
  return {static_cast<NodeId>(dataset.slots->node_begin[type]), dataset.slots->num_nodes_of(type)};
}

}  // namespace

std::string link_text(const NodeIds& ids, const NodePair& link, const std::string& relation) {
  return id_text(ids, link.source) + "," + (relation.empty() ? "" : csv_field(relation) + ",") +
         id_text(ids, link.destination);
}

KnownLinks known_links_of(const Dataset& dataset) {
  return KnownLinks(dataset.links, !dataset.types.is_typed() && dataset.is_symmetric);
}

std::vector<std::vector<ScoredNode>> find_best_links(const BestLinks& wanted, const KnownLinks& known,
                                                     std::span<const NodeId> nodes, const LinkScores& scores) {
  const auto [first_candidate, num_candidates] = candidates_of(wanted);
  std::vector<std::vector<NodeId>> left_out;
  for (const NodeId node : nodes) {
    left_out.push_back(partners_of(wanted, known, node));
    for (NodeId& partner : left_out.back()) partner -= first_candidate;
  }
  auto best = best_candidates(
      {.num_queries = nodes.size(),
       .num_candidates = num_candidates,
       .scores = [&](std::size_t begin, std::size_t end, std::int64_t first, std::int64_t count,
                     float* out) { scores(nodes.subspan(begin, end - begin), first_candidate + first, count, out); },
       .left_out = [&](std::size_t q) { return std::span<const NodeId>(left_out[q]); }},
      wanted.k, wanted.blocks);
  for (std::vector<ScoredNode>& of_node : best)
    for (ScoredNode& scored : of_node) scored.node += first_candidate;
  return best;
}

void write_best_links(const std::filesystem::path& folder, const BestLinks& wanted, const LinkScores& scores) {
  const KnownLinks known = known_links_of(wanted.dataset);
  const NodeIds ids = NodeIds::of(wanted.dataset);
  const std::string relation = wanted.relation_name();
  std::string table = relation.empty() ? "source,destination,score,rank\n" : "source,relation,destination,score,rank\n";
  std::size_t num_links = 0;
  for (std::size_t at = 0; at < wanted.nodes.size(); at += kChunk) {
    const std::span<const NodeId> nodes = wanted.nodes.subspan(at, std::min(kChunk, wanted.nodes.size() - at));
    const auto best = find_best_links(wanted, known, nodes, scores);
    for (std::size_t q = 0; q < nodes.size(); ++q) {
      for (std::size_t rank = 0; rank < best[q].size(); ++rank) {
        const NodeId other = best[q][rank].node;
        const bool asks_tail = wanted.side == LinkSide::kTail;
        const NodePair link = asks_tail ? NodePair{nodes[q], other} : NodePair{other, nodes[q]};
        table.append(link_text(ids, link, relation) + "," + printed("%.9g", static_cast<double>(best[q][rank].score)) +
                     "," + std::to_string(rank + 1) + "\n");
      }
      num_links += best[q].size();
    }
  }
  replace_text_file(folder / "best.csv", table);
  log_result("found " + std::to_string(num_links) + " links of " + std::to_string(wanted.nodes.size()) + " nodes");
}

}  // namespace salient
