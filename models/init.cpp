// models/init.cpp - counter-based initial values.
#include "models/init.h"

#include <cmath>

#include "core/error.h"
#include "core/philox.h"

namespace salient {

void fill_uniform(const at::Tensor& parameter, const std::string& name, double bound, std::uint32_t seed) {
  require(parameter.device().is_cpu() && parameter.is_contiguous(), "parameters are made on the host");
  std::uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  auto* values = parameter.mutable_data_ptr<float>();
  PhiloxBlock block{};
  for (std::int64_t i = 0; i < parameter.numel(); ++i) {
    if (i % 4 == 0) block = philox4x32({{seed, hash}}, {{static_cast<std::uint32_t>(i / 4), 0, 0, 0x494E4954}});
    const double unit = (block.word[i % 4] >> 8) * 0x1p-24;
    values[i] = static_cast<float>((2 * unit - 1) * bound);
  }
}

double glorot_bound(std::int64_t fan_in, std::int64_t fan_out) {
  return std::sqrt(6 / static_cast<double>(fan_in + fan_out));
}

double bound_of(InitScheme scheme, std::int64_t fan_in, std::int64_t fan_out) {
  if (scheme == InitScheme::kPyg) return 1 / std::sqrt(static_cast<double>(fan_in));
  return std::sqrt(2) * glorot_bound(fan_in, fan_out);
}

}  // namespace salient
