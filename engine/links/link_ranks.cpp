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

RankTally LinkRanks::all(std::optional<LinkSide> side) const {
  RankTally sum;
  for (const LinkSide one : kLinkSides)
    for (const std::array<RankTally, 2>& relation : of_relation)
      if (!side || *side == one) sum.add(relation[static_cast<std::size_t>(one)]);
  return sum;
}

LinkRanks rank_links(const Embeddings& embeddings, const LinkTable& links, const KnownLinks& known,
                     std::span<const std::optional<std::uint32_t>> reverses, TieRule ties, std::uint64_t bytes) {
  LinkRanks ranks;
  ranks.of_relation.resize(reverses.size());
  const EmbeddingShape& shape = embeddings.shape;
  std::vector<NodeId> targets(links.size());
  for (const LinkSide side : kLinkSides) {
    for (std::size_t i = 0; i < links.size(); ++i) targets[i] = link_query(links, i, side, reverses).target;
    const RankProblem problem{
        .kind = pair_score_of(shape.decoder),
        .width = shape.node_width(),
        .candidates = embeddings.nodes.data(),
        .num_candidates = static_cast<std::uint64_t>(shape.num_nodes),
        .targets = targets,
        .queries =
            [&](std::size_t begin, std::size_t end, float* out) {
              for (std::size_t i = begin; i < end; ++i, out += shape.node_width()) {
                const LinkQuery query = link_query(links, i, side, reverses);
                make_query({shape, query.is_turned, embeddings.node(query.node), embeddings.relation(query.relation)},
                           out);
              }
            },
        .known =
            [&](std::size_t i) {
              return known.of(side, links.relations[i], link_query(links, i, side, reverses).node);
            }};
    const std::vector<RankCounts> counts = blocked_ranks(problem, bytes);
    for (std::size_t i = 0; i < counts.size(); ++i)
      ranks.of_relation[links.relations[i]][static_cast<std::size_t>(side)].add(rank_of(counts[i], ties));
  }
  return ranks;
}

LinkRanks rank_links_among(const Embeddings& embeddings, const LinkTable& links, const GivenNegatives& given,
                           std::span<const std::optional<std::uint32_t>> reverses, TieRule ties) {
  LinkRanks ranks;
  ranks.of_relation.resize(reverses.size());
  const EmbeddingShape& shape = embeddings.shape;
  const PairScore kind = pair_score_of(shape.decoder);
  std::vector<double> of_link(links.size());
  for (const LinkSide side : kLinkSides) {
    const bool is_tail = side == LinkSide::kTail;
    const std::span<const NodeId> all = is_tail ? given.destinations : given.sources;
    const std::size_t count = is_tail ? given.num_destinations : given.num_sources;
    if (count == 0) continue;
    for_each_item(static_cast<std::int64_t>(links.size()), 16, [&](std::int64_t item) {
      const auto i = static_cast<std::size_t>(item);
      const LinkQuery query = link_query(links, i, side, reverses);
      std::vector<float> row(static_cast<std::size_t>(shape.node_width()));
      make_query({shape, query.is_turned, embeddings.node(query.node), embeddings.relation(query.relation)},
                 row.data());
      const auto score = [&](NodeId node) {
        return pair_score(kind, row.data(), embeddings.node(node), shape.node_width());
      };
      std::vector<float> others(count);
      std::ranges::transform(all.subspan(i * count, count), others.begin(), score);
      const float own = score(query.target);
      of_link[i] = std::isnan(own) ? 0 : rank_of(counts_among(own, others), ties);
    });
    for (std::size_t i = 0; i < of_link.size(); ++i) {
      if (of_link[i] == 0) fail(ErrorKind::kDiverged, "the score of link " + std::to_string(i) + " is not a number");
      ranks.of_relation[links.relations[i]][static_cast<std::size_t>(side)].add(of_link[i]);
    }
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
