// prepare/importers/raw_graph.cpp - see raw_graph.h.
#include "prepare/importers/raw_graph.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "core/half.h"

namespace salient {
namespace {

[[noreturn]] void refuse_value(int dim, std::uint64_t position, float value, const std::string& file) {
  const auto width = static_cast<std::uint64_t>(dim);
  std::string text =
      file + ": row " + std::to_string(position / width) + ", column " + std::to_string(position % width);
  text += " is " + std::to_string(value);
  if (!std::isfinite(value)) fail(ErrorKind::kBadData, text + "; features are finite");
  fail(ErrorKind::kBadData, text + ", beyond the f16 range of 65504", Topic::kHalfRange);
}

}  // namespace

bool label_of(double value, std::int32_t& label) {
  if (std::isnan(value) || value == -1) return label = -1, true;
  if (!(value >= 0 && value < kMaxClasses) || value != std::floor(value)) return false;
  return label = static_cast<std::int32_t>(value), true;
}

bool flag_of(double value, std::int8_t& flag) {
  if (std::isnan(value)) return flag = -1, true;
  if (value != -1 && value != 0 && value != 1) return false;
  return flag = static_cast<std::int8_t>(value), true;
}

bool is_node_count(std::uint64_t count) { return count > 0 && count < std::numeric_limits<NodeId>::max(); }

void convert_features(std::span<const float> values, FeatureType type, int dim, std::uint64_t position,
                      const std::string& file, std::byte* out) {
  require(dim > 0, "the feature width is set before rows are converted");
  require(type != FeatureType::kFp8, "rows become fp8 when the scale is known");
  const float limit = type == FeatureType::kF16 ? kHalfMax : std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(std::fabs(values[i]) <= limit)) refuse_value(dim, position + i, values[i], file);
  if (type == FeatureType::kF16)
    floats_to_halves(values.data(), values.size(), reinterpret_cast<std::uint16_t*>(out));
  else if (!values.empty())
    std::memcpy(out, values.data(), values.size_bytes());
}

void append_feature_rows(RawFeatures& features, const float* values, std::size_t count, const std::string& file) {
  const std::size_t item = size_of(features.type), before = features.rows.size() / item;
  features.rows.resize(features.rows.size() + count * item);
  convert_features({values, count}, features.type, features.dim, before, file, features.rows.data() + before * item);
}

}  // namespace salient
