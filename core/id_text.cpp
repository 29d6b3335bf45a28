// core/id_text.cpp - see id_text.h.
#include "core/id_text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

namespace salient {
namespace {

template <class T>
bool is_whole_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// value * 10^zeros, and `digit`; false beyond 2^64.
bool append_digits(std::uint64_t& value, std::uint64_t zeros, std::uint64_t digit) {
  if (value == 0) return value = digit, true;
  for (; zeros > 0; --zeros)
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value)) return false;
  return !__builtin_add_overflow(value, digit, &value);
}

/// digits [. digits] [e|E [sign] digits] as a whole number.
bool parse_decimal(std::string_view text, std::uint64_t& id) {
  constexpr std::uint64_t kMaxExact = std::uint64_t{1} << 53;  // who writes it has a double
  const std::size_t end = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, end);
  std::int64_t exponent = 0;
  if (end < text.size()) {
    std::string_view power = text.substr(end + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    if (!is_whole_number(power, exponent) || power.size() > 6) return false;
  }
  std::uint64_t value = 0, zeros = 0;  // since the last other digit, this one included
  bool has_digits = false, has_point = false;
  for (const char c : mantissa) {
    if (c == '.' && !std::exchange(has_point, true)) continue;
    if (c < '0' || c > '9') return false;
    has_digits = true;
    if (has_point) --exponent;
    ++zeros;
    if (c == '0') continue;
    if (!append_digits(value, zeros, static_cast<std::uint64_t>(c - '0'))) return false;
    zeros = 0;
  }
  exponent += static_cast<std::int64_t>(zeros);
  const bool is_whole = value == 0 || (exponent >= 0 && append_digits(value, static_cast<std::uint64_t>(exponent), 0));
  if (!has_digits || !is_whole || value > kMaxExact) return false;
  return id = value, true;
}

}  // namespace

IdForm id_form(std::string_view text, std::uint64_t& id) {
  const bool are_digits = is_whole_number(text, id);
  if (!are_digits && !parse_decimal(text, id)) return IdForm::kNone;
  const bool has_zeros = text[0] == '0' && text.size() > 1 && text[1] >= '0' && text[1] <= '9';
  const bool has_exponent = !are_digits && text.find_first_of("eE") != std::string_view::npos;
  return has_zeros || has_exponent ? IdForm::kUnusual : IdForm::kPlain;
}

bool parse_id(std::string_view text, std::uint64_t& id) { return id_form(text, id) != IdForm::kNone; }

}  // namespace salient
