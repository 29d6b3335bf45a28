// sampler/race_choice.h - which entries of a row a weighted draw keeps, on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sampler/draws.h"

namespace salient {

/// The entries of a row that may be drawn.
struct WeightedRow {
  const NodeId* entries = nullptr;  ///< where the row begins; likewise the next
  const float* weights = nullptr;
  std::uint32_t begin = 0, end = 0;  ///< places in the row
};

/// Which random words a row reads.
struct RowDraws {
  BatchKey key{};
  std::uint32_t hop = 0;  ///< or the word in its place, see word_of_slot()
  NodeId dst = 0;
};

/// How many of these weights are above 0, or `limit` if they are more. Cost: stops there.
std::uint32_t num_drawable(std::span<const float> weights, std::uint32_t limit);

/// The scratch memory of one thread: a few times the largest fanout.
class RaceChoice {
 public:
  /// The `count` entries that Draw::kWeighted keeps, as addresses in the row's order.
  ///
  /// @param count   at most num_drawable() of the row, at least 1
  /// @param picked  [count]
  /// Cost:    a 32nd of a vectorised Philox block and of four vectors of race_length() an entry; weights are read once.
  /// Oracle:  reference_sample().
  void pick(const WeightedRow& row, std::uint32_t count, const RowDraws& draws, const NodeId** picked);

 private:
  void pick_many(const WeightedRow& row, std::uint32_t count, const RowDraws& draws, const NodeId** picked);

  std::vector<std::uint64_t> candidates_;
};

}  // namespace salient
