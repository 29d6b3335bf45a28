// engine/links/link_ranks.cpp - see link_ranks.h.
#include "engine/links/link_ranks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/csv_text.h"
#include "core/error.h"
#include "core/number_text.h"
#include "engine/rank/for_each_item.h"

namespace salient {
namespace {

/// The node type that is asked for.
std::size_t type_asked(const RankedLinks& of, std::size_t i, LinkSide side) {
  const Relation& relation = of.schema.relations[of.links.relations[i]];
  return static_cast<std::size_t>(side == LinkSide::kTail ? relation.dst : relation.src);
}

/// One side of links that are ranked among all nodes.
struct RankedSide {
  const Embeddings& embeddings;
  const RankedLinks& of;
  const KnownLinks& known;
  LinkSide side;
  std::uint64_t bytes;
};

/// Ranks some of the links, of which one type is asked for. @param ranks  [links], of which theirs are set
void rank_some(const RankedSide& ranked, std::span<const std::size_t> some, std::vector<double>& ranks) {
  if (some.empty()) return;
  const auto& [embeddings, of, known, side, bytes] = ranked;
  const EmbeddingShape& shape = embeddings.shape;
  const SlotTable slots = slot_table_of(of.schema);
  const std::size_t type = type_asked(of, some.front(), side);
  const std::int64_t first = static_cast<std::int64_t>(slots.node_begin[type]);
  const auto query_of = [&](std::size_t q) { return link_query(of.links, some[q], side, of.reverses); };
  std::vector<NodeId> targets(some.size());
  for (std::size_t q = 0; q < some.size(); ++q) targets[q] = query_of(q).target;
  const RankProblem problem{
      .kind = pair_score_of(shape.decoder),
      .width = shape.node_width(),
      .candidates = embeddings.node(first),
      .num_candidates = slots.num_nodes_of(type),
      .first = static_cast<NodeId>(first),
      .targets = targets,
      .queries =
          [&](std::size_t begin, std::size_t end, float* out) {
            for (std::size_t q = begin; q < end; ++q, out += shape.node_width()) {
              const LinkQuery query = query_of(q);
              make_query({shape, query.is_turned, embeddings.node(query.node), embeddings.relation(query.relation)},
                         out);
            }
          },
      .known = [&](std::size_t q) { return known.of(side, of.links.relations[some[q]], query_of(q).node); }};
  const std::vector<RankCounts> counts = blocked_ranks(problem, bytes);
  for (std::size_t q = 0; q < counts.size(); ++q) ranks[some[q]] = rank_of(counts[q], of.ties);
}

}  // namespace

RankTally LinkRanks::all(std::optional<LinkSide> side) const {
  RankTally sum;
  for (const LinkSide one : kLinkSides)
    for (const std::array<RankTally, 2>& relation : of_relation)
      if (!side || *side == one) sum.add(relation[static_cast<std::size_t>(one)]);
  return sum;
}

LinkRanks tally(const RanksOfSides& ranks, const LinkTable& links, std::size_t num_relations) {
  LinkRanks tallies;
  tallies.of_relation.resize(num_relations);
  for (std::size_t side = 0; side < ranks.size(); ++side)
    for (std::size_t i = 0; i < ranks[side].size(); ++i)
      tallies.of_relation[links.relations[i]][side].add(ranks[side][i]);
  return tallies;
}

RanksOfSides rank_links(const Embeddings& embeddings, const RankedLinks& of, const KnownLinks& known,
                        std::uint64_t bytes) {
  RanksOfSides ranks;
  for (const LinkSide side : kLinkSides) {
    std::vector<double>& of_side = ranks[static_cast<std::size_t>(side)];
    of_side.resize(of.links.size());
    std::vector<std::vector<std::size_t>> links_of_type(of.schema.node_types.size());
    for (std::size_t i = 0; i < of.links.size(); ++i) links_of_type[type_asked(of, i, side)].push_back(i);
    for (const std::vector<std::size_t>& some : links_of_type)
      rank_some({embeddings, of, known, side, bytes}, some, of_side);
  }
  return ranks;
}

RanksOfSides rank_links_among(const Embeddings& embeddings, const RankedLinks& of, const GivenNegatives& given) {
  RanksOfSides ranks;
  const EmbeddingShape& shape = embeddings.shape;
  const PairScore kind = pair_score_of(shape.decoder);
  for (const LinkSide side : kLinkSides) {
    const bool is_tail = side == LinkSide::kTail;
    const std::span<const NodeId> all = is_tail ? given.destinations : given.sources;
    const std::size_t count = is_tail ? given.num_destinations : given.num_sources;
    if (count == 0) continue;
    std::vector<double>& of_link = ranks[static_cast<std::size_t>(side)];
    of_link.resize(of.links.size());
    for_each_item(static_cast<std::int64_t>(of.links.size()), 16, [&](std::int64_t item) {
      const auto i = static_cast<std::size_t>(item);
      const LinkQuery query = link_query(of.links, i, side, of.reverses);
      std::vector<float> row(static_cast<std::size_t>(shape.node_width()));
      make_query({shape, query.is_turned, embeddings.node(query.node), embeddings.relation(query.relation)},
                 row.data());
      const auto score = [&](NodeId node) {
        return pair_score(kind, row.data(), embeddings.node(node), shape.node_width());
      };
      std::vector<float> others(count);
      std::ranges::transform(all.subspan(i * count, count), others.begin(), score);
      const float own = score(query.target);
      of_link[i] = std::isnan(own) ? 0 : rank_of(counts_among(own, others), of.ties);
    });
    for (std::size_t i = 0; i < of_link.size(); ++i)
      if (of_link[i] == 0) fail(ErrorKind::kDiverged, "the score of link " + std::to_string(i) + " is not a number");
  }
  return ranks;
}

Figures figures_of(const RankTally& ranks) {
  Figures figures;
  if (ranks.count() == 0) return figures;
  figures[Metric::kMrr] = ranks.mrr();
  figures[Metric::kHitsAt1] = ranks.hits_at(1);
  figures[Metric::kHitsAt3] = ranks.hits_at(3);
  figures[Metric::kHitsAt10] = ranks.hits_at(10);
  return figures;
}

std::string ranks_csv(const LinkRanks& ranks, const GraphSchema& schema) {
  std::string text = "relation,side,links,mrr,hits_at_1,hits_at_3,hits_at_10\n";
  for (std::size_t r = 0; r < ranks.of_relation.size(); ++r)
    for (const LinkSide side : kLinkSides) {
      const RankTally& tally = ranks.of_relation[r][static_cast<std::size_t>(side)];
      if (tally.count() == 0) continue;
      text += csv_field(schema.relations[r].name) + "," + name_of(side) + "," + std::to_string(tally.count());
      for (const double value : {tally.mrr(), tally.hits_at(1), tally.hits_at(3), tally.hits_at(10)})
        text += "," + fixed(value, 4);
      text += "\n";
    }
  return text;
}

}  // namespace salient
