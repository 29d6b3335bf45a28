// loaders/prepare/raw_graph.cpp - see raw_graph.h.
#include "loaders/prepare/raw_graph.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "engine/core/error.h"
#include "engine/core/half.h"

namespace salient {
namespace {

[[noreturn]] void refuse_value(const RawFeatures& features, std::size_t position, float value,
                               const std::string& file) {
  const auto dim = static_cast<std::size_t>(features.dim);
  std::string text = file + ": row " + std::to_string(position / dim) + ", column " + std::to_string(position % dim);
  text += " is " + std::to_string(value);
  text += std::isfinite(value) ? ", beyond the f16 range of 65504; use --feature-dtype f32" : "; features are finite";
  fail(ErrorKind::kBadData, text);
}

}  // namespace

bool label_of(double value, std::int32_t& label) {
  if (std::isnan(value)) return label = -1, true;
  const bool fits = value >= 0 && value < double{std::numeric_limits<std::int32_t>::max()};
  if (!fits || value != std::floor(value)) return false;
  return label = static_cast<std::int32_t>(value), true;
}

bool is_node_count(std::uint64_t count) { return count > 0 && count < std::numeric_limits<NodeId>::max(); }

void append_feature_rows(RawFeatures& features, const float* values, std::size_t count, const std::string& file) {
  require(features.dim > 0, "the feature width is set before rows are appended");
  const std::size_t item = size_of(features.type), before = features.rows.size() / item;
  const float limit = features.type == FeatureType::kF16 ? kHalfMax : std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < count; ++i)
    if (!(std::fabs(values[i]) <= limit)) refuse_value(features, before + i, values[i], file);
  features.rows.resize(features.rows.size() + count * item);
  std::byte* out = features.rows.data() + before * item;
  if (features.type == FeatureType::kF16)
    floats_to_halves(values, count, reinterpret_cast<std::uint16_t*>(out));
  else if (count > 0)
    std::memcpy(out, values, count * item);
}

}  // namespace salient
