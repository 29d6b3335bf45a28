// models/exact/exact_shape.h - what exact inference on the GPU computes, and the sizes of its layers.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "models/resident/operands.h"

namespace salient {

struct ExactShape {
  int num_layers;                                                     ///< from 2
  int in_dim, hidden_dim, num_classes;                                ///< hidden_dim is a multiple of 8
  bool is_deterministic = false;                                      ///< algorithms of products are not chosen by time
  std::int64_t block_rows = std::int64_t{1} << 20;                    ///< nodes that a layer is computed for at a time
  int max_pieces = 1 << 15;                                           ///< of long rows of a block, as in GatherScratch
  std::int64_t most_kept = std::numeric_limits<std::int64_t>::max();  ///< bytes of free memory that results may take
                                                                      ///< beyond what is needed
};

struct ExactWidth {
  std::int64_t in, out;  ///< padded; in is of one part of the operand
};

/// Of the layers, the first one's first.
inline std::vector<ExactWidth> widths_of(const ExactShape& shape) {
  std::vector<ExactWidth> widths;
  for (int i = 0; i < shape.num_layers; ++i)
    widths.push_back({padded(i == 0 ? shape.in_dim : shape.hidden_dim),
                      padded(i + 1 == shape.num_layers ? shape.num_classes : shape.hidden_dim)});
  return widths;
}

}  // namespace salient
