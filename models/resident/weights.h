// models/resident/weights.h - a layer's two matrices as one operand, and the gradient of that operand as two.
#pragma once

#include <cstdint>
#include <span>

#include "core/cuda/cuda.h"
#include "models/describe/resident_limits.h"
#include "models/resident/operands.h"
#include "models/resident/parameter_update.h"

namespace salient {

/// z = mean * around^T + own * self^T. All pointers are device memory, f32.
struct SageWeights {
  const float* around;  ///< [out_dim, in_dim]: lin_l.weight
  const float* self;    ///< [out_dim, in_dim]: lin_r.weight
  float* around_gradient;
  float* self_gradient;
  std::int64_t in_dim;
  std::int64_t out_dim;
};

/// One layer's matrices and their packed form: around | self, both padded with zeros to [padded(out_dim),
/// padded(in_dim)].
struct PackedWeights {
  SageWeights weights;
  void* packed;                  ///< in the activations' type
  const float* packed_gradient;  ///< [num_gradients] of the same shape, whose sum it is
  int num_gradients = 1;
  std::int64_t first_value = 0;  ///< of this layer, among those that ranks sum
};

/// Packs the weights of all layers. @param layers  at most kMaxResidentLayers
void pack_weights(std::span<const PackedWeights> layers, ActivationType type, cudaStream_t stream);

/// Writes all layers' gradients from those of the packed matrices.
void unpack_gradients(std::span<const PackedWeights> layers, cudaStream_t stream);

/// unpack_gradients(), the sum over ranks, adam_step() and pack_weights() at once, of a model all of whose parameters
/// are SageWeights; the gradients are neither read nor written.
/// @param header  device: the learning rate
void update_weights(std::span<const PackedWeights> layers, ActivationType type, const ParameterUpdate& update,
                    const StepHeader* header, cudaStream_t stream);

}  // namespace salient
