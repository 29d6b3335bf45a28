// models/init.h - initial parameters as a function of (seed, parameter name), so the same on every device and rank.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "models/describe/model_options.h"

namespace salient {

/// Fills `parameter` with uniform values of [-bound, bound).
///
/// @param parameter  f32, contiguous, host
/// Determinism:      value i is word i % 4 of the Philox block with key (seed, FNV-1a of name) and counter
///                   (i / 4, 0, 0, 'INIT'), its upper 24 bits.
void fill_uniform(const at::Tensor& parameter, const std::string& name, double bound, std::uint32_t seed);

/// sqrt(6 / (fan_in + fan_out)): Glorot and Bengio (AISTATS 2010).
double glorot_bound(std::int64_t fan_in, std::int64_t fan_out);

/// The bound of `scheme` for a weight [fan_out, fan_in]. kPyg: 1 / sqrt(fan_in), what torch and PyG give a linear map
/// (He et al., ICCV 2015, with a = sqrt(5)); kXavier: sqrt(2), the gain of a ReLU, times Glorot's bound, as
/// SALIENT's artifact.
double bound_of(InitScheme scheme, std::int64_t fan_in, std::int64_t fan_out);

}  // namespace salient
