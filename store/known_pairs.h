// store/known_pairs.h - whether a pair of nodes is a link of a data set, of whichever split.
#pragma once

#include <cstdint>
#include <vector>

#include "store/dataset.h"

namespace salient {

/// The links of a data set, by relation where it has them. Borrows the data set.
/// Memory: 12 bytes for each validation and test link, twice with reverses
class KnownPairs {
 public:
  explicit KnownPairs(const Dataset& dataset);

  /// @param relation  of a typed graph; else it is not read
  bool has(std::uint32_t relation, NodeId source, NodeId destination) const;

 private:
  struct Triple {
    std::uint32_t relation;
    NodeId source, destination;
    auto operator<=>(const Triple&) const = default;
  };
  bool is_entry(std::uint32_t relation, NodeId source, NodeId destination) const;

  const Dataset& dataset_;
  std::vector<Triple> kept_aside_{};  // ascending
};

}  // namespace salient
