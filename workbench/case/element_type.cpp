// workbench/case/element_type.cpp - see element_type.h.
#include "workbench/case/element_type.h"

#include <bit>
#include <cstring>

#include "core/half.h"

namespace salient::workbench {
namespace {

struct Format {
  ElementType type;
  const char* word;
  std::size_t bytes;
  double roundoff;
  double smallest, largest;
};

constexpr Format kFormats[] = {{ElementType::kF32, "f32", 4, 0x1p-24, 0x1p-126, 0x1.FFFFFEp127},
                               {ElementType::kF16, "f16", 2, 0x1p-11, 0x1p-14, 65504},
                               {ElementType::kBF16, "bf16", 2, 0x1p-8, 0x1p-126, 0x1.FEp127},
                               {ElementType::kI32, "i32", 4, 0, 0, 0},
                               {ElementType::kU32, "u32", 4, 0, 0, 0}};

const Format& format_of(ElementType type) { return kFormats[static_cast<std::size_t>(type)]; }

template <class T>
T load(const std::byte* buffer, std::size_t index) {
  T value;
  std::memcpy(&value, buffer + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(std::byte* buffer, std::size_t index, T value) {
  std::memcpy(buffer + index * sizeof(T), &value, sizeof(T));
}

}  // namespace

std::optional<ElementType> element_type_of(std::string_view word) {
  for (const Format& format : kFormats)
    if (word == format.word) return format.type;
  return std::nullopt;
}

const char* word_of(ElementType type) { return format_of(type).word; }
std::size_t bytes_of(ElementType type) { return format_of(type).bytes; }
double unit_roundoff(ElementType type) { return format_of(type).roundoff; }
double smallest_normal(ElementType type) { return format_of(type).smallest; }

double largest_finite(ElementType type) { return format_of(type).largest; }

std::uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float bf16_to_float(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::uint32_t load_bits(ElementType type, const std::byte* buffer, std::size_t index) {
  return bytes_of(type) == 2 ? load<std::uint16_t>(buffer, index) : load<std::uint32_t>(buffer, index);
}

void store_bits(ElementType type, std::byte* buffer, std::size_t index, std::uint32_t bits) {
  if (bytes_of(type) == 2) return store(buffer, index, static_cast<std::uint16_t>(bits));
  store(buffer, index, bits);
}

double load_element(ElementType type, const std::byte* buffer, std::size_t index) {
  switch (type) {
    case ElementType::kF32: return double{load<float>(buffer, index)};
    case ElementType::kF16: return double{half_to_float(load<std::uint16_t>(buffer, index))};
    case ElementType::kBF16: return double{bf16_to_float(load<std::uint16_t>(buffer, index))};
    case ElementType::kI32: return load<std::int32_t>(buffer, index);
    case ElementType::kU32: return load<std::uint32_t>(buffer, index);
  }
  return 0;
}

void store_element(ElementType type, std::byte* buffer, std::size_t index, double value) {
  switch (type) {
    case ElementType::kF32: return store(buffer, index, static_cast<float>(value));
    case ElementType::kF16: return store(buffer, index, float_to_half(static_cast<float>(value)));
    case ElementType::kBF16: return store(buffer, index, float_to_bf16(static_cast<float>(value)));
    case ElementType::kI32: return store(buffer, index, static_cast<std::int32_t>(value));
    case ElementType::kU32: return store(buffer, index, static_cast<std::uint32_t>(value));
  }
}

}  // namespace salient::workbench
