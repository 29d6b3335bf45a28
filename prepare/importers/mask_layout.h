// prepare/importers/mask_layout.h - where the items of several masks of nodes belong.
#pragma once

#include <cstdint>
#include <string>

#include "core/files/npy.h"

namespace salient {

/// Masks [V], [K, V] or [V, K] in C or Fortran order; K = V is read as [K, V].
struct MaskLayout {
  std::uint64_t num_nodes = 0, num_masks = 1;
  bool nodes_are_fastest = true;

  std::uint64_t mask_of(std::uint64_t item) const { return nodes_are_fastest ? item / num_nodes : item % num_masks; }
  std::uint64_t node_of(std::uint64_t item) const { return nodes_are_fastest ? item % num_nodes : item / num_masks; }
};

/// @param mask  the one that is wanted   @param array  named in errors
/// @throws Error{kBadData} for another shape; Error{kUsage} if there is no such mask
MaskLayout mask_layout_of(const NpyHeader& header, std::uint64_t num_nodes, int mask, const std::string& array);

}  // namespace salient
