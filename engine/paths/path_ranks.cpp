// engine/paths/path_ranks.cpp - see path_ranks.h.
#include "engine/paths/path_ranks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "store/link_negatives.h"

namespace salient {
namespace {

/// One side of a link.
struct Item {
  PathQuestion question;
  std::size_t link;
  LinkSide side;
  NodeId target;
};

RankCounts counts_of(std::span<const float> scores, NodeId target, std::span<const NodeId> known) {
  RankCounts counts;
  const float own = scores[target];
  for (const float score : scores) {
    counts.greater += score > own;
    counts.equal += score == own;
  }
  --counts.equal;  // the target itself
  for (const NodeId other : known) {
    if (other == target) continue;
    counts.greater -= scores[other] > own;
    counts.equal -= scores[other] == own;
  }
  return counts;
}

RankCounts counts_of_given(std::span<const float> scores, const GivenNegatives& given, const Item& item) {
  const bool is_tail = item.side == LinkSide::kTail;
  const std::size_t count = is_tail ? given.num_destinations : given.num_sources;
  const std::span<const NodeId> nodes =
      (is_tail ? given.destinations : given.sources).subspan(item.link * count, count);
  std::vector<float> others(count);
  std::ranges::transform(nodes, others.begin(), [&](NodeId node) { return scores[node]; });
  return counts_among(scores[item.target], others);
}

/// By question, then in the order of links.
std::vector<Item> items_of(const LinkTable& links, const GivenNegatives& given, const PathRanking& how) {
  std::vector<Item> items;
  for (std::size_t i = 0; i < links.size(); ++i)
    for (const LinkSide side : kLinkSides) {
      if (given.of_link() > 0 && (side == LinkSide::kTail ? given.num_destinations : given.num_sources) == 0) continue;
      const LinkQuery query = link_query(links, i, side, how.reverses);
      items.push_back({{query.node, query.relation}, i, side, query.target});
    }
  std::ranges::stable_sort(items, {}, &Item::question);
  return items;
}

}  // namespace

LinkRanks rank_paths(const PathParameters& parameters, const PathGraph& graph, const Dataset& dataset,
                     std::size_t split, const PathRanking& how) {
  const LinkTable& links = dataset.links[split];
  const GivenNegatives given = open_negatives(dataset, split);
  const std::vector<Item> items = items_of(links, given, how);
  std::vector<PathQuestion> questions;
  std::vector<std::size_t> begin;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (i == 0 || items[i].question != items[i - 1].question) {
      questions.push_back(items[i].question);
      begin.push_back(i);
    }
  begin.push_back(items.size());
  std::array<std::vector<double>, 2> ranks{std::vector<double>(links.size()), std::vector<double>(links.size())};
  score_questions(parameters, graph, questions, [&](std::size_t q, std::span<const float> scores) {
    const bool has_all = std::ranges::all_of(scores, [](float score) { return std::isfinite(score); });
    for (std::size_t i = begin[q]; i < begin[q + 1] && has_all; ++i) {
      const Item& item = items[i];
      const RankCounts counts =
          given.of_link() > 0
              ? counts_of_given(scores, given, item)
              : counts_of(scores, item.target, how.known.of(item.side, links.relations[item.link], item.question.head));
      ranks[static_cast<std::size_t>(item.side)][item.link] = rank_of(counts, how.ties);
    }
  });
  std::vector<std::array<bool, 2>> is_asked(links.size());
  for (const Item& item : items) is_asked[item.link][static_cast<std::size_t>(item.side)] = true;
  LinkRanks result;
  result.of_relation.resize(how.reverses.size());
  for (std::size_t side = 0; side < ranks.size(); ++side)
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (!is_asked[i][side]) continue;
      if (ranks[side][i] == 0)
        fail(ErrorKind::kDiverged, "the score of link " + std::to_string(i) + " is not a number");
      result.of_relation[links.relations[i]][side].add(ranks[side][i]);
    }
  return result;
}

}  // namespace salient
