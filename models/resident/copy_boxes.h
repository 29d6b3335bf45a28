// models/resident/copy_boxes.h - a matrix as Hopper's copy engine reads it: in boxes of some rows and 64 columns.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace salient {

/// Row-major bf16, in device memory.
struct BoxedMatrix {
  const void* data;
  std::int64_t rows, columns;  ///< columns are a multiple of 8
};

/// Boxes of `box_rows` rows, at most 256, and 64 columns, in the order that wgmma.cuh wants.
CUtensorMap boxes_of(const BoxedMatrix& matrix, int box_rows);

}  // namespace salient
