// engine/train/evaluation_negatives.h - what validation and test links are compared with.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/rank/known_links.h"
#include "sampler/link_seeds.h"
#include "store/link_negatives.h"

namespace salient {

/// The negatives that the data set comes with, else uniform ones of key (0, 0, 0), the same in every run and epoch.
/// Borrows the data set.
class EvaluationNegatives {
 public:
  /// @param split  kValidLinks or kTestLinks    @param rule  of uniform ones
  EvaluationNegatives(const Dataset& dataset, std::size_t split, const LinkRule& rule);

  /// How many negatives of a link are ranked together: one number, or two where a data set has other destinations and
  /// other sources of each, which are two questions. Empty: all links are compared with the shared ones.
  std::span<const std::size_t> groups() const { return groups_; }
  std::size_t of_link() const { return of_link_; }  ///< the sum
  /// @param i  the link's number    @param j  below of_link()
  NodePair negative(std::size_t i, std::size_t j) const;
  /// Which end of the link it replaces: of uniform ones that of a rule that corrupts both.
  LinkSide side(std::size_t j) const {
    const bool is_tail = given_.empty() ? j % 2 == 0 : j < given_.num_destinations;
    return is_tail ? LinkSide::kTail : LinkSide::kHead;
  }

  std::size_t num_shared() const { return given_.num_pairs(); }
  NodePair shared(std::size_t p) const { return {given_.pairs[2 * p], given_.pairs[2 * p + 1]}; }

 private:
  const LinkTable& links_;
  const GivenNegatives given_;
  const LinkNegatives uniform_;
  std::vector<std::size_t> groups_{};
  std::size_t of_link_ = 0;
};

}  // namespace salient
