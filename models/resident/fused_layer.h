// models/resident/fused_layer.h - the first layer of GraphSAGE and the mean behind it as one kernel each way. It is
// most of a step's arithmetic and memory traffic; fused, neither its result nor the gradient of that is ever in memory.
#pragma once

#include <array>
#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/resident/fused_kernels.h"
#include "models/resident/operands.h"

namespace salient {

struct FusedShape {
  std::int64_t rows, in;  ///< of the layer's operand
  std::int64_t parents;   ///< nodes of the level behind the layer, at most
  int fanout;             ///< of the hop from there to the operand's rows
};

class FusedLayer {
 public:
  /// Whether it can take the place of products: hidden_dim is kFusedWidth, and the GPU has compute capability 9.0.
  static bool fits(const FusedShape& shape, ActivationType type, int hidden_dim);

  /// GPU memory of it, in bytes.
  static std::int64_t bytes(const FusedShape& shape);

  static constexpr std::size_t kNumBatches = 2;
  using Operands = std::array<const void*, kNumBatches>;

  /// @param operands  of each batch, [rows, in] bf16 device, outlive this; possibly the same
  /// @param apart     multiprocessors that forward() and backward() leave to others
  /// @throws Error{kDeviceMemory}
  FusedLayer(const FusedShape& shape, const Operands& operands, int apart);

  /// Draws dropout, which forward() applies. May run beside all three functions for another batch.
  /// @param batch  < kNumBatches: whose operand is read, whose bits are drawn, or kept from draw() over forward() to
  ///               backward()
  void draw(const HiddenLayer& layer, std::size_t batch, cudaStream_t stream) const;

  /// @param weight  [kFusedWidth, in] bf16
  /// @param out     the next layer's operand, but for rows behind the end of the level, which are left as they are
  void forward(const HiddenLayer& layer, std::size_t batch, const void* weight, void* out, cudaStream_t stream) const;

  /// Behind forward(). partials() become the gradient of the weight.
  /// @param gradient  of the next layer's operand
  void backward(const HiddenLayer& layer, std::size_t batch, const void* gradient, cudaStream_t stream) const;

  /// [num_partials(), kFusedWidth, in] f32 device, to be added up
  const float* partials() const { return partials_.get(); }
  int num_partials() const { return num_partials_; }

 private:
  FusedArguments arguments(const HiddenLayer& layer, std::size_t batch) const;

  const FusedShape shape_;
  FusedArguments same_;  // what does not depend on the batch
  struct Boxes {
    CUtensorMap own_rows, child_rows;
  };
  std::array<Boxes, kNumBatches> boxes_;  // of the operands
  DeviceArray<std::uint32_t> bits_;
  int num_partials_ = 0;
  DeviceArray<float> partials_;
};

}  // namespace salient
