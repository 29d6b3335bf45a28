// core/value_text.h - values as text that reads back to the same value, for options, files and tables.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/enum_names.h"

namespace salient {

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// What an empty optional is called: the program chooses.
inline constexpr std::string_view kAutoWord = "auto";

inline std::string to_text(const std::string& value) { return value; }
inline std::string to_text(bool value) { return value ? "true" : "false"; }
std::string to_text(Number auto value) {
  char buffer[64];  // the shortest form that reads back to the same value
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}
std::string to_text(NamedEnum auto value) { return name_of(value); }
template <NamedEnum E>
std::string to_text(const std::optional<E>& value) {
  return value ? name_of(*value) : std::string(kAutoWord);
}
inline std::string to_text(const std::optional<bool>& value) {
  return value ? to_text(*value) : std::string(kAutoWord);
}
template <class T>
std::string to_text(const std::vector<T>& value) {
  std::string text;
  for (const T& item : value) text.append(text.empty() ? "" : ",").append(to_text(item));
  return text;
}

/// Each returns whether all of `text` was a value, so that "12x", "3,,5" and "nan" are refused.
inline bool from_text(std::string_view text, std::string& value) { return value = text, true; }
inline bool from_text(std::string_view text, bool& value) { return value = text == "true", value || text == "false"; }
template <Number T>
bool from_text(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if constexpr (std::is_floating_point_v<T>)
    if (error == std::errc{} && !std::isfinite(value)) return false;
  return error == std::errc{} && end == text.data() + text.size();
}
template <NamedEnum E>
bool from_text(std::string_view text, E& value) {
  const std::optional<E> found = value_named<E>(text);
  value = found.value_or(value);
  return found.has_value();
}
/// An enum or a bool, or "auto" for none.
template <class T>
bool from_text(std::string_view text, std::optional<T>& value) {
  value.reset();
  return text == kAutoWord || from_text(text, value.emplace());
}
template <class T>
bool from_text(std::string_view text, std::vector<T>& value) {
  value.clear();
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    if (!from_text(text.substr(from, to - from), value.emplace_back())) return false;
    from = to + 1;
  }
  return true;
}

}  // namespace salient
