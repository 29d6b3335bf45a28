// engine/infer/selected_nodes.h - the nodes of a split, all nodes, or a list of nodes from a file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "store/dataset.h"

namespace salient {

/// The nodes of a split in its order, of "all" from 0 on, or of FILE.npy in the file's order, of a mask ascending.
///
/// @param what  train | valid | test | all | FILE.npy with a list of distinct integers in [0, V), or a bool [V]
/// @throws Error{kUsage} for a split without nodes; Error{kNoInput}, Error{kIo}; Error{kBadData} naming the file, the
///         place and the rule.
std::vector<NodeId> select_nodes(const Dataset& dataset, const std::string& what);

}  // namespace salient
