// core/field_values.h - what a field of text is: a number, yes or no, or nothing.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace salient {

/// What R, pandas, databases and people write where a value is missing: nothing, NA, NaN, null, None, ?, ...
bool is_missing(std::string_view text);

/// Decimal digits, or a floating-point number as std::from_chars reads it, "nan" and "inf" included: no blanks, no
/// '+', nothing behind. False also for values out of T's range.
template <class T>
bool parse_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Whether a text is one, of a double.
inline bool is_number(std::string_view text) {
  double value = 0;
  return parse_number(text, value);
}

/// Of true and false, yes and no, t and f, y and n, in any case; nullopt of other words.
std::optional<bool> yes_or_no(std::string_view text);

}  // namespace salient
