// store/timed_link_checks.h - what link_checks.h checks and says, of links that have times.
#pragma once

#include <string>

#include "store/dataset.h"
#include "store/dataset_checks.h"

namespace salient {

/// What only verify checks: no link of validation is earlier than one of training, no link of the test earlier than one
/// of either, and entries of the graph are the links of all splits, each with its time, and their reverses where it is
/// symmetric. A pair may be a link at many times.
/// @param dataset  of has_link_times
/// @throws Error{kBadData} naming file, record and rule    Cost: sorts the entries, 16 bytes each
void verify_timed_links(const Dataset& dataset, const DatasetChecks& checks);

/// Lines of a summary: sizes and times of the splits, and how many links join a pair that a training link joins.
std::string timed_links_text(const Dataset& dataset);

}  // namespace salient
