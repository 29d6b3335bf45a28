// models/resident/weight_blocks.h - parameters as blocks of the second factors of products, and the way of their
// gradients back.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cuda/cuda.h"
#include "models/resident/step_memory.h"

namespace salient {

/// A parameter, or some of its columns, and its place in a packed matrix. Device memory, f32 but for `packed`.
struct WeightBlock {
  const float* value;  ///< [rows, columns], rows `stride` apart
  float* gradient;     ///< likewise
  std::int64_t stride;
  std::int64_t rows, columns;
  void* packed;                  ///< of the activations' type: the matrix that it is a block of
  const float* packed_gradient;  ///< of the same shape
  std::int64_t packed_width, first_column;
  const float* addend = nullptr;  ///< a parameter that is added, as `value`; its gradient is the same
  float* addend_gradient = nullptr;
};

/// Packs and unpacks all parameters of a model at once.
class WeightBlocks {
 public:
  void add(const WeightBlock& block) { blocks_.push_back(block); }

  /// Copies the list to the device. Blocks. Behind it nothing is added.
  void finish();

  /// Enqueue and return.
  void pack(ActivationType type, cudaStream_t stream) const;
  void unpack_gradients(cudaStream_t stream) const;

 private:
  std::vector<WeightBlock> blocks_;
  DeviceArray<WeightBlock> on_device_;
  std::int64_t largest_ = 0;
};

}  // namespace salient
