// sampler/labor_choice.h - which entries of a row LABOR keeps, on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sampler/draws.h"

namespace salient {

/// The scratch memory of one thread: a few times the largest fanout.
class LaborChoice {
 public:
  /// The `count` entries that Draw::kLabor keeps, as addresses in the row's order.
  ///
  /// @param row     more than `count` entries
  /// @param count   at least 1   @param picked  [count]
  /// Cost:      one eighth of a vectorised Philox block per entry; the row is read once.
  /// Oracle:    reference_sample().
  void pick(std::span<const NodeId> row, std::uint32_t count, BatchKey key, std::uint32_t hop, const NodeId** picked);

 private:
  struct Candidate {
    std::uint64_t number_and_id;
    std::uint32_t place;
    auto operator<=>(const Candidate&) const = default;
  };
  std::vector<Candidate> candidates_;
};

}  // namespace salient
