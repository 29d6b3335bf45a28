// prepare/importers/negative_sources.h - where the negatives of links come from that a data set is given with.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "core/types.h"

namespace salient {

/// Ids of nodes in rows of `width`, which are read when the store is written: they may be more than memory holds.
struct NegativeSource {
  std::uint64_t rows = 0, width = 0;
  std::string file{};  ///< for messages
  /// Calls use(ids) for all rows in their order, whole rows at a time. @throws Error{kBadData}, Error{kIo}
  std::function<void(const std::function<void(std::span<const NodeId>)>& use)> read{};

  bool is_there() const { return rows > 0 && width > 0; }
};

/// Of one split, as store/link_negatives.h has them.
struct SplitNegatives {
  NegativeSource destinations{}, sources{};  ///< a row for each link
  NegativeSource pairs{};                    ///< width 2
};

/// What becomes of a negative that is a link.
enum class NegativeLinks : std::uint8_t {
  kRefuse,
  kWarn,  ///< it stays, as a benchmark has it
};

struct LinkNegativeSources {
  std::array<SplitNegatives, 3> of{};  ///< of training, validation and test
  NegativeLinks links = NegativeLinks::kRefuse;
};

}  // namespace salient
