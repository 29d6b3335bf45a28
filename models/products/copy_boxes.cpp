// models/products/copy_boxes.cpp - see copy_boxes.h.
#include "models/products/copy_boxes.h"

#include <cudaTypedefs.h>

#include "core/cuda/cuda.h"
#include "core/error.h"

namespace salient {
namespace {

/// The driver's function, without a link to the driver's library.
PFN_cuTensorMapEncodeTiled_v12000 encode_function() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  cuda_check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
  require(found == cudaDriverEntryPointSuccess, "the driver describes matrices to the copy engine");
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

}  // namespace

CUtensorMap boxes_of(const BoxedMatrix& matrix, int box_rows) {
  CUtensorMap map{};
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(matrix.columns), static_cast<cuuint64_t>(matrix.rows)};
  const auto row_bytes = static_cast<cuuint64_t>(matrix.row_stride > 0 ? matrix.row_stride : matrix.columns) * 2;
  const cuuint32_t box[] = {64, static_cast<cuuint32_t>(box_rows)}, steps[] = {1, 1};
  static const PFN_cuTensorMapEncodeTiled_v12000 encode = encode_function();
  const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(matrix.data), sizes,
                                 &row_bytes, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  require(result == CUDA_SUCCESS, "the copy engine can read the matrix");
  return map;
}

}  // namespace salient
