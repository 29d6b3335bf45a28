// core/time_text.cpp - see time_text.h.
//
// By hand: std::chrono::parse() is not in the compilers of today's distributions.
#include "core/time_text.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>

#include "core/value_text.h"

namespace salient {
namespace {

/// Takes `num_digits` digits from the front of the text.
std::optional<int> take_digits(std::string_view& text, std::size_t num_digits) {
  int value = 0;
  const char* const end = text.data() + std::min(num_digits, text.size());
  if (text.size() < num_digits || text[0] < '0' || text[0] > '9') return std::nullopt;
  if (const auto [at, error] = std::from_chars(text.data(), end, value); error != std::errc{} || at != end)
    return std::nullopt;
  text.remove_prefix(num_digits);
  return value;
}

/// Behind a sign such as ':'.
std::optional<int> take_behind(char sign, std::string_view& text, std::size_t num_digits) {
  if (!text.starts_with(sign)) return std::nullopt;
  text.remove_prefix(1);
  return take_digits(text, num_digits);
}

/// HH:MM of a day or of an offset.
std::optional<int> take_minutes(std::string_view& text) {
  const std::optional<int> hours = take_digits(text, 2);
  const std::optional<int> minutes = hours ? take_behind(':', text, 2) : std::nullopt;
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return 60 * *hours + *minutes;
}

bool parse_date(std::string_view text, std::int64_t& time) {
  using namespace std::chrono;
  const std::optional<int> year = take_digits(text, 4);
  const std::optional<int> month = year ? take_behind('-', text, 2) : std::nullopt;
  const std::optional<int> day = month ? take_behind('-', text, 2) : std::nullopt;
  if (!day) return false;
  const year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                            std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return false;
  time = seconds(sys_days(date).time_since_epoch()).count();
  if (text.empty()) return true;
  if (text[0] != 'T' && text[0] != ' ') return false;
  text.remove_prefix(1);
  const std::optional<int> minutes = take_minutes(text);
  if (!minutes) return false;
  time += 60 * std::int64_t{*minutes};
  if (text.starts_with(':')) {
    const std::optional<int> in_minute = take_behind(':', text, 2);
    if (!in_minute || *in_minute > 59) return false;
    time += *in_minute;
  }
  if (text.empty() || text == "Z") return true;
  const int sign = text[0] == '+' ? 1 : text[0] == '-' ? -1 : 0;
  text.remove_prefix(1);
  const std::optional<int> offset = sign != 0 ? take_minutes(text) : std::nullopt;
  if (!offset || !text.empty()) return false;
  time -= sign * 60 * std::int64_t{*offset};
  return true;
}

}  // namespace

TimeForm parse_time(std::string_view text, std::int64_t& time) {
  if (from_text(text, time)) return TimeForm::kNumber;
  if (parse_date(text, time)) return TimeForm::kDate;
  constexpr double kMostExact = 0x1p53;
  double number = 0;
  if (!from_text(text, number) || std::abs(number) > kMostExact || number != std::floor(number)) return TimeForm::kNone;
  time = static_cast<std::int64_t>(number);
  return TimeForm::kNumber;
}

}  // namespace salient
