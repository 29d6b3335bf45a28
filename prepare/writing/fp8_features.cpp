// prepare/writing/fp8_features.cpp - see fp8_features.h.
#include "prepare/writing/fp8_features.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "core/fp8.h"
#include "core/host/interrupt.h"
#include "core/value_text.h"

namespace salient {
namespace {

constexpr std::size_t kBlock = std::size_t{64} << 10;  // values

[[noreturn]] void refuse_column(const std::string& file, std::size_t column, const std::string& why) {
  fail(ErrorKind::kBadData, file + ": column " + std::to_string(column) + " of the features " + why);
}

void to_floats(const RawFeatures& features, std::size_t first, std::span<float> values) {
  const std::byte* const from = features.rows.data() + first * size_of(features.type);
  if (features.type == FeatureType::kF32) return (void)std::memcpy(values.data(), from, values.size_bytes());
  const auto* const halves = reinterpret_cast<const std::uint16_t*>(from);
  std::transform(halves, halves + values.size(), values.begin(), half_to_float);
}

/// Calls use(first, values) for all values, block by block.
template <class Use>
void for_each_block(const RawFeatures& features, Use use) {
  std::vector<float> block(kBlock);
  const std::size_t count = features.rows.size() / size_of(features.type);
  for (std::size_t first = 0; first < count; first += kBlock) {
    stop_if_interrupted();
    const std::span values = std::span(block).first(std::min(kBlock, count - first));
    to_floats(features, first, values);
    use(first, values);
  }
}

}  // namespace

void ColumnRanges::add(std::span<const float> values) {
  for (const float value : values) {
    largest_[column_] = std::max(largest_[column_], std::fabs(value));
    column_ = column_ + 1 == largest_.size() ? 0 : column_ + 1;
  }
}

float ColumnRanges::fp8_scale(const std::string& file) const {
  const auto at = std::ranges::max_element(largest_);
  const float largest = *at;
  const auto widest = static_cast<std::size_t>(at - largest_.begin());
  float scale = kLeastFp8Scale;
  while (scale < kLargestFp8Scale && largest > kFp8Max * scale) scale *= 2;
  if (largest > kFp8Max * scale)
    refuse_column(file, widest, "has " + to_text(largest) + ", beyond the fp8 range of 57344; f32 has room for it");
  const auto is_lost = [scale](float most) { return most > 0 && most < kFp8LeastNormal * scale; };
  if (is_lost(largest))
    refuse_column(file, widest, "is at most " + to_text(largest) + ", others no more: too small for fp8; f32 has room");
  if (const auto lost = std::ranges::find_if(largest_, is_lost); lost != largest_.end())
    refuse_column(file, static_cast<std::size_t>(lost - largest_.begin()),
                  "is at most " + to_text(*lost) + " and column " + std::to_string(widest) + " up to " +
                      to_text(largest) + ", too far apart for the one scale of fp8; f16 has room for both");
  return scale;
}

RawFeatures in_fp8(RawFeatures features, const std::string& source) {
  const std::string& file = features.file.empty() ? source : features.file;
  if (features.layout == FeatureLayout::kCsr)
    fail(ErrorKind::kUsage, file + ": sparse features are not kept in fp8, but in f16 or f32");
  ColumnRanges ranges(features.dim);
  for_each_block(features, [&](std::size_t, std::span<const float> values) { ranges.add(values); });
  const float scale = ranges.fp8_scale(file);
  FeatureLosses losses;
  const bool counts = !features.file.empty();  // not of features that were made
  for_each_block(features, [&](std::size_t first, std::span<const float> values) {
    std::byte* const out = features.rows.data() + first;  // behind what is read next
    floats_to_fp8(values.data(), values.size(), scale, out);
    if (counts) losses.add(values, out, FeatureType::kFp8, features.dim);
  });
  say_losses(losses, file, features.column_names);
  features.rows.resize(features.rows.size() / size_of(features.type));
  features.type = FeatureType::kFp8;
  features.fp8_scale = scale;
  return features;
}

}  // namespace salient
