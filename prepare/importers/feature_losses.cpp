// prepare/importers/feature_losses.cpp - see feature_losses.h.
#include "prepare/importers/feature_losses.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/console/log.h"
#include "core/error.h"
#include "prepare/formats/text_fields.h"

namespace salient {
namespace {

template <class Bits>
constexpr std::uint32_t kMagnitude = std::numeric_limits<Bits>::max() / 2;  // all bits but the sign

/// Whether any value is not 0 and is stored as 0. One loop without a branch, which becomes vector instructions.
template <class T, class Bits>
bool any_becomes_zero(std::span<const T> values, const Bits* stored) {
  std::uint32_t any = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    any |= (values[i] != 0 ? 1U : 0U) & ((stored[i] & kMagnitude<Bits>) == 0 ? 1U : 0U);
  return any != 0;
}

/// Whether a row is compared with the one before.
bool is_compared(std::uint64_t row) { return row > 0 && (row < 4096 || row % 64 == 0); }

/// "column 3", "columns 3 'age', 7 'pay' and 12 'x'", "columns 3, 7, 12 and 40 more"
std::string columns_text(const std::vector<std::size_t>& columns, std::span<const std::string> names) {
  constexpr std::size_t kMost = 3;
  std::string text = columns.size() > 1 ? "columns " : "column ";
  for (std::size_t i = 0; i < std::min(kMost, columns.size()); ++i) {
    const bool is_last = i > 0 && i + 1 == columns.size();
    text.append(i == 0 ? "" : is_last ? " and " : ", ").append(std::to_string(columns[i]));
    if (columns[i] < names.size()) text.append(" ").append(in_quotes(names[columns[i]]));
  }
  return columns.size() > kMost ? text + " and " + std::to_string(columns.size() - kMost) + " more" : text;
}

}  // namespace

void FeatureLosses::start(FeatureType type, int dim) {
  if (!differ_.empty()) return;
  type_ = type;
  for (std::vector<std::uint32_t>* counts : {&differ_, &merged_, &became_zero_, &stored_})
    counts->assign(static_cast<std::size_t>(dim), 0);
}

template <class T, class Bits>
void FeatureLosses::count(std::span<const T> values, const Bits* stored, FeatureType type, int dim,
                          std::vector<T>& last) {
  start(type, dim);
  const std::size_t width = differ_.size();
  last.resize(width);
  first_.resize(width * sizeof(Bits));
  const bool has_zeros = any_becomes_zero(values, stored);
  for (std::size_t from = 0; from < values.size();) {
    const std::size_t c = column_, size = std::min(width - c, values.size() - from);
    const T* const value = values.data() + from;
    const Bits* const bits = stored + from;
    if (row_ == 0) std::memcpy(first_.data() + c * sizeof(Bits), bits, size * sizeof(Bits));
    if (!has_difference_)
      has_difference_ = std::memcmp(first_.data() + c * sizeof(Bits), bits, size * sizeof(Bits)) != 0;
    for (std::size_t i = 0; has_zeros && i < size; ++i)
      became_zero_[c + i] += value[i] != 0 && (bits[i] & kMagnitude<Bits>) == 0;
    for (std::size_t i = 0; is_compared(row_) && i < size; ++i) {
      const bool differs = value[i] != last[c + i];
      differ_[c + i] += differs;
      merged_[c + i] += differs && bits[i] == stored_[c + i];
    }
    if (is_compared(row_ + 1)) {
      std::copy_n(value, size, last.begin() + static_cast<std::ptrdiff_t>(c));
      std::copy_n(bits, size, stored_.begin() + static_cast<std::ptrdiff_t>(c));
    }
    from += size;
    column_ = c + size == width ? 0 : c + size;
    row_ += column_ == 0;
  }
}

template <class T>
void FeatureLosses::count(std::span<const T> values, const std::byte* stored, FeatureType type, int dim,
                          std::vector<T>& last) {
  if (type == FeatureType::kFp8)
    count(values, reinterpret_cast<const std::uint8_t*>(stored), type, dim, last);
  else if (type == FeatureType::kF16)
    count(values, reinterpret_cast<const std::uint16_t*>(stored), type, dim, last);
  else
    count(values, reinterpret_cast<const std::uint32_t*>(stored), type, dim, last);
}

void FeatureLosses::add(std::span<const float> values, const std::byte* stored, FeatureType type, int dim) {
  if (type != FeatureType::kF32) count(values, stored, type, dim, last_);
}

void FeatureLosses::add(std::span<const double> values, const std::byte* stored, FeatureType type, int dim) {
  count(values, stored, type, dim, wide_last_);
}

void FeatureLosses::add_entry(std::size_t column, double value, const std::byte* stored, FeatureType type, int dim) {
  start(type, dim);
  wide_last_.resize(differ_.size());
  has_entry_.resize(differ_.size());
  std::uint32_t bits = 0;
  std::memcpy(&bits, stored, size_of(type));
  const std::uint32_t magnitude =
      bits & (type == FeatureType::kF16 ? kMagnitude<std::uint16_t> : kMagnitude<std::uint32_t>);
  const bool differs = has_entry_[column] && value != wide_last_[column];
  differ_[column] += differs;
  merged_[column] += differs && bits == stored_[column];
  became_zero_[column] += value != 0 && magnitude == 0;
  has_difference_ |= magnitude != 0;  // from what is left out
  has_entry_[column] = true;
  wide_last_[column] = value;
  stored_[column] = bits;
}

std::string FeatureLosses::text(const std::string& file, std::span<const std::string> names) const {
  const std::uint32_t share = type_ == FeatureType::kFp8 ? 4 : 16;  // fp8 has 8 numbers from 1 to 2, and is chosen so
  std::vector<std::size_t> with_zeros, with_equals;
  std::uint64_t num_zeros = 0;
  for (std::size_t c = 0; c < differ_.size(); ++c) {
    num_zeros += became_zero_[c];
    if (became_zero_[c] > 0)
      with_zeros.push_back(c);
    else if (merged_[c] > differ_[c] / share)
      with_equals.push_back(c);
  }
  if (with_zeros.empty() && with_equals.empty()) return "";
  const std::string type = name_of(type_);
  std::string text = file + ": ";
  if (!with_zeros.empty())
    text += std::to_string(num_zeros) + " features that are not 0 become 0 in " + type + " (" +
            columns_text(with_zeros, names) + ")" + (with_equals.empty() ? "" : ", and ");
  if (!with_equals.empty()) {
    const std::size_t c = with_equals.front();
    text += "different features become equal in " + type + " (" + columns_text(with_equals, names) + ": " +
            std::to_string(merged_[c]) + " of " + std::to_string(differ_[c]) + " neighbours that differ)";
  }
  text += type_ == FeatureType::kF32 ? "; subtract an offset or scale them first" : "; f32 has room for them";
  if (!has_difference_)
    fail(ErrorKind::kBadData, text + ", and nothing else tells nodes apart",
         type_ == FeatureType::kF32 ? Topic::kNone : Topic::kHalfRange);
  return text;
}

void say_losses(const FeatureLosses& losses, const std::string& file, std::span<const std::string> names) {
  if (const std::string text = losses.text(file, names); !text.empty()) log_warning(text);
}

}  // namespace salient
