// models/products/copy_boxes.h - a matrix as Hopper's copy engine reads it: in boxes of some rows and 64 columns.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace salient {

/// Row-major, in device memory. Elements of 2 bytes: bf16 or f16.
struct BoxedMatrix {
  const void* data;
  std::int64_t rows, columns;   ///< columns are a multiple of 8
  std::int64_t row_stride = 0;  ///< elements from a row to the next, a multiple of 8; 0 = columns
};

/// Boxes of `box_rows` rows, at most 256, and 64 columns, in the order that wgmma.cuh wants.
CUtensorMap boxes_of(const BoxedMatrix& matrix, int box_rows);

}  // namespace salient
