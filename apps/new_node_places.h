// apps/new_node_places.h - where the parts of each new node are in the arrays of a list.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "apps/new_nodes.h"
#include "store/dataset.h"

namespace salient {

/// Sums over the nodes before each; the last of each is the sum over all.
struct NewNodePlaces {
  std::vector<std::size_t> row{0};      ///< [num_nodes + 1] its first row in NewNodes::indptr
  std::vector<std::size_t> feature{0};  ///< [num_nodes + 1] its first number in NewNodes::features
};

/// @param nodes  with types that the data set has
NewNodePlaces places_of(const NewNodes& nodes, const Dataset& dataset);

/// @throws Error{kUsage} for nodes that break the rules of NewNodes beside this data set
void check_new_nodes(const NewNodes& nodes, const Dataset& dataset);

/// Lists that do not know of each other, one behind the other, as one.
NewNodes joined(std::span<const NewNodes> lists, std::size_t num_known);

}  // namespace salient
