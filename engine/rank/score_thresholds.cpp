// engine/rank/score_thresholds.cpp - see score_thresholds.h.
#include "engine/rank/score_thresholds.h"

#include <algorithm>
#include <limits>

namespace salient {
namespace {

/// Reorders the triples.
float best_threshold(std::span<JudgedTriple> triples) {
  std::ranges::sort(triples, std::ranges::greater(), &JudgedTriple::score);
  float best = std::numeric_limits<float>::infinity();
  std::int64_t gain = 0, most = 0;  // links less negatives among those that count as links
  for (std::size_t i = 0; i < triples.size(); ++i) {
    gain += triples[i].is_link ? 1 : -1;
    const bool ends_a_tie = i + 1 == triples.size() || triples[i + 1].score != triples[i].score;
    if (ends_a_tie && (gain > most || (gain == most && most > 0))) {
      most = gain;
      best = triples[i].score;
    }
  }
  return best;
}

}  // namespace

ScoreThresholds::ScoreThresholds(std::span<const JudgedTriple> validation, std::size_t num_relations) {
  std::vector<JudgedTriple> all(validation.begin(), validation.end());
  of_relation_.assign(num_relations, best_threshold(all));
  std::ranges::stable_sort(all, {}, &JudgedTriple::relation);
  for (auto begin = all.begin(); begin != all.end();) {
    const std::uint16_t relation = begin->relation;
    const auto end = std::find_if(begin, all.end(), [&](const auto& triple) { return triple.relation != relation; });
    of_relation_[relation] = best_threshold({begin, end});
    begin = end;
  }
}

std::vector<JudgedCounts> ScoreThresholds::judge(std::span<const JudgedTriple> triples) const {
  std::vector<JudgedCounts> counts(of_relation_.size());
  for (const auto& [relation, is_true, score] : triples) {
    JudgedCounts& here = counts[relation];
    ++(is_true ? here.links : here.negatives);
    here.right += is_link(relation, score) == is_true;
  }
  return counts;
}

JudgedCounts sum_of(std::span<const JudgedCounts> counts) {
  JudgedCounts sum;
  for (const JudgedCounts& one : counts) {
    sum.links += one.links;
    sum.negatives += one.negatives;
    sum.right += one.right;
  }
  return sum;
}

}  // namespace salient
