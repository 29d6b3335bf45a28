// workbench/case/element_type.h - the number formats of a case's buffers, read and written as double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace salient::workbench {

enum class ElementType : std::uint8_t { kF32, kF16, kBF16, kI32, kU32 };

std::optional<ElementType> element_type_of(std::string_view word);  ///< "f32", "f16", "bf16", "i32", "u32"
const char* word_of(ElementType type);

std::size_t bytes_of(ElementType type);
inline bool is_float(ElementType type) { return type <= ElementType::kBF16; }

/// Half the distance from 1 to the next larger number: 2^-24, 2^-11, 2^-8; 0 for integers.
double unit_roundoff(ElementType type);
/// The smallest positive normal number; results below it may be flushed to zero. 0 for integers.
double smallest_normal(ElementType type);

/// The largest finite number, of formats of floating point.
double largest_finite(ElementType type);

/// The bits of an element, in the low bytes.
std::uint32_t load_bits(ElementType type, const std::byte* buffer, std::size_t index);
void store_bits(ElementType type, std::byte* buffer, std::size_t index, std::uint32_t bits);
double load_element(ElementType type, const std::byte* buffer, std::size_t index);
/// Rounds to nearest even. Integers: `value` is one of the type.
void store_element(ElementType type, std::byte* buffer, std::size_t index, double value);

std::uint16_t float_to_bf16(float value);  ///< nearest, ties to even; a NaN stays one
float bf16_to_float(std::uint16_t bits);

}  // namespace salient::workbench
