// store/plain_link_checks.h - what link_checks.h checks, of graphs of one type, whose links have no relation.
#pragma once

#include <cstdint>

#include "core/types.h"
#include "store/dataset.h"
#include "store/dataset_checks.h"

namespace salient {

/// Whether `source` is in the row of `destination`. Cost: of rows that ascend by times linear
bool is_plain_entry(const Dataset& dataset, NodeId source, NodeId destination);

/// As check_links().
void check_plain_links(const Dataset& dataset, const DatasetChecks& checks);

/// Whether links of a later split may be those of an earlier.
enum class SharedPairs : std::uint8_t { kRefused, kAllowed };

/// As verify_links(). A pair of nodes is in one split, in whichever direction, unless pairs may be shared.
void verify_plain_links(const Dataset& dataset, const DatasetChecks& checks, SharedPairs shared);

}  // namespace salient
