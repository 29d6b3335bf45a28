// engine/rank/score_thresholds.h - triple classification: from which score on a relation's triple counts as a link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace salient {

/// A triple whose truth is known.
struct JudgedTriple {
  std::uint16_t relation = 0;
  bool is_link = false;
  float score = 0;
};

/// How many of some triples are judged rightly.
struct JudgedCounts {
  std::uint64_t links = 0, negatives = 0, right = 0;

  double accuracy() const {
    return links + negatives == 0 ? 0 : static_cast<double>(right) / static_cast<double>(links + negatives);
  }
};

/// The score of a validation triple of each relation with which most of them are judged rightly, a triple being a link
/// from that score on; the lowest of equally good ones. Infinite where it is best that none is a link. A relation that
/// has no validation triple takes the score that is best of all.
class ScoreThresholds {
 public:
  /// @param validation  whose scores are numbers    Cost: a sort
  ScoreThresholds(std::span<const JudgedTriple> validation, std::size_t num_relations);

  float of(std::uint16_t relation) const { return of_relation_[relation]; }
  bool is_link(std::uint16_t relation, float score) const { return score >= of(relation); }

  /// [num_relations] of triples of each.
  std::vector<JudgedCounts> judge(std::span<const JudgedTriple> triples) const;

 private:
  std::vector<float> of_relation_{};
};

/// Over all relations.
JudgedCounts sum_of(std::span<const JudgedCounts> counts);

}  // namespace salient
