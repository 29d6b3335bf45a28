// core/files/value_rules.cpp - see value_rules.h.
#include "core/files/value_rules.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/value_text.h"

namespace salient {
namespace {

constexpr const char* kNegative = "which is negative";
constexpr const char* kNotWhole = "which is no whole number";

}  // namespace

const char* id_from(double value, int type_bytes, std::uint64_t& id) {
  if (!std::isfinite(value) || value != std::floor(value)) return kNotWhole;
  if (value < 0) return kNegative;
  if (type_bytes == 2 && value >= 0x1p11) return "and float16 skips whole numbers from 2048 on; keep ids as integers";
  if (type_bytes == 4 && value >= 0x1p24) return "and float32 skips whole numbers from 2^24 on; keep ids as integers";
  if (value >= 0x1p53) return "and float64 skips whole numbers from 2^53 on; keep ids as integers";
  id = static_cast<std::uint64_t>(value);
  return nullptr;
}

const char* label_from(double value, std::int32_t& label) {
  if (std::isnan(value) || value == -1) return label = -1, nullptr;
  if (!(value >= 0 && value < kLabelLimit) || value != std::floor(value))
    return "which is no class (0 to 1048575, or -1 or NaN for none)";
  return label = static_cast<std::int32_t>(value), nullptr;
}

const char* flag_from(double value, std::int8_t& flag) {
  if (std::isnan(value)) return flag = -1, nullptr;
  if (value != -1 && value != 0 && value != 1) return "allowed are 1, 0, and -1 or NaN for not known";
  return flag = static_cast<std::int8_t>(value), nullptr;
}

const char* mask_of(std::int64_t value, bool& is_in) {
  is_in = value == 1;
  return value == 0 || value == 1 ? nullptr : "a mask is of 0 and 1";
}

std::string item_text(const NpyHeader& header, const std::byte* item) {
  if (header.kind == 'f') {
    double wide = 0;
    convert_to_double(header, item, 1, &wide);
    return header.item_bytes == 8 ? to_text(wide) : to_text(static_cast<float>(wide));
  }
  std::int64_t value = 0;
  convert_to_int64(header, item, 1, &value);
  return integer_text(header, value);
}

std::string integer_text(const NpyHeader& header, std::int64_t value) {
  return header.kind == 'u' ? to_text(static_cast<std::uint64_t>(value)) : to_text(value);
}

void fail_at_item(const std::string& array, std::uint64_t item, const std::string& value, const std::string& rule,
                  Topic topic) {
  fail(ErrorKind::kBadData, array + ": item " + std::to_string(item) + " is " + value + ", " + rule, topic);
}

std::string no_node(std::uint64_t id, std::uint64_t num_nodes) {
  return "the graph has nodes 0 to " + std::to_string(num_nodes - 1) +
         (id == num_nodes ? ", which count from 0; do the ids count from 1?" : "");
}

void convert_to_ids(const NpyHeader& header, const std::byte* raw, std::size_t count, std::uint64_t first,
                    const std::string& array, std::uint64_t* out) {
  if (header.kind == 'b') fail(ErrorKind::kBadData, array + ": holds bools, whole numbers are expected");
  const auto item = static_cast<std::size_t>(header.item_bytes);
  const auto refuse = [&](std::size_t i, const char* rule) {
    fail_at_item(array, first + i, item_text(header, raw + i * item), rule);
  };
  if (header.kind == 'f') {
    std::array<double, 1024> block;
    for (std::size_t from = 0; from < count; from += block.size()) {
      const std::size_t some = std::min(block.size(), count - from);
      convert_to_double(header, raw + from * item, some, block.data());
      for (std::size_t i = 0; i < some; ++i)
        if (const char* rule = id_from(block[i], header.item_bytes, out[from + i])) refuse(from + i, rule);
    }
    return;
  }
  convert_to_int64(header, raw, count, reinterpret_cast<std::int64_t*>(out));
  if (header.kind == 'u') return;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < count; ++i) all |= out[i];
  for (std::size_t i = 0; all >> 63 != 0 && i < count; ++i)
    if (out[i] >> 63 != 0) refuse(i, kNegative);
}

std::vector<std::uint64_t> ids_of(const NpyFile& file) {
  std::vector<std::uint64_t> ids(file.header().num_items());
  convert_to_ids(file.header(), file.data().data(), ids.size(), 0, file.name(), ids.data());
  return ids;
}

bool fits_float(const NpyHeader& header) {
  return header.kind == 'b' || header.item_bytes <= (header.kind == 'f' ? 4 : 2);
}

}  // namespace salient
