// prepare/importers/mask_layout.cpp - see mask_layout.h.
#include "prepare/importers/mask_layout.h"

#include "core/error.h"

namespace salient {
namespace {

MaskLayout layout_of(const NpyHeader& header, std::uint64_t num_nodes, const std::string& array) {
  const auto& shape = header.shape;
  if (shape.size() == 1 && shape[0] == num_nodes) return {.num_nodes = num_nodes};
  const bool masks_first = shape.size() == 2 && shape[1] == num_nodes;
  const bool nodes_first = shape.size() == 2 && shape[0] == num_nodes && !masks_first;
  const std::string nodes = std::to_string(num_nodes);
  if (!masks_first && !nodes_first)
    fail(ErrorKind::kBadData, array + ": has shape " + header.shape_text() + ", masks of " + nodes + " nodes are (" +
                                  nodes + ",), (K, " + nodes + ") or (" + nodes + ", K)");
  return {.num_nodes = num_nodes,
          .num_masks = shape[masks_first ? 0 : 1],
          .nodes_are_fastest = masks_first != header.is_fortran_order};
}

}  // namespace

MaskLayout mask_layout_of(const NpyHeader& header, std::uint64_t num_nodes, int mask, const std::string& array) {
  const MaskLayout layout = layout_of(header, num_nodes, array);
  if (layout.num_masks == 0) fail(ErrorKind::kBadData, array + ": has no masks");
  if (mask < 0 || static_cast<std::uint64_t>(mask) >= layout.num_masks)
    fail(ErrorKind::kUsage,
         array + ": has the masks 0 to " + std::to_string(layout.num_masks - 1) + ", not " + std::to_string(mask));
  return layout;
}

}  // namespace salient
