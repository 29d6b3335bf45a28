// prepare/importers/edge_values.cpp - see edge_values.h.
//
// By hand: std::chrono::parse() is not in the compilers of today's distributions.
#include "prepare/importers/edge_values.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "core/console/log.h"
#include "core/error.h"
#include "core/value_text.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"

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

const char* parse_weight(std::string_view text, WeightMap map, double& weight) {
  if (!from_text(text, weight)) return "the weight is no finite number";
  if (map == WeightMap::kNone && weight < 0)
    return "the weight is below 0; mapped by abs, shift or clip it would be one";
  return nullptr;
}

std::vector<float> mapped_weights(const std::vector<double>& weights, WeightMap map, const std::string& file) {
  double least = 0;
  if (map == WeightMap::kShift && !weights.empty()) least = *std::ranges::min_element(weights);
  std::vector<float> mapped;
  mapped.reserve(weights.size());
  for (const double given : weights) {
    double weight = given - least;
    if (map == WeightMap::kAbs) weight = std::abs(given);
    if (map == WeightMap::kClip) weight = std::max(given, 0.0);
    mapped.push_back(static_cast<float>(weight));
    if (!std::isfinite(mapped.back()) || (mapped.back() == 0 && weight != 0))
      fail(ErrorKind::kBadData, file + ": edge " + std::to_string(mapped.size() - 1) + " has the weight " +
                                    to_text(weight) + ", which no float holds");
  }
  return mapped;
}

TimeForm parse_time(std::string_view text, std::int64_t& time) {
  if (from_text(text, time)) return TimeForm::kNumber;
  if (parse_date(text, time)) return TimeForm::kDate;
  constexpr double kMostExact = 0x1p53;
  double number = 0;
  if (!from_text(text, number) || std::abs(number) > kMostExact || number != std::floor(number)) return TimeForm::kNone;
  time = static_cast<std::int64_t>(number);
  return TimeForm::kNumber;
}

std::int64_t TimeForms::parse(std::string_view field, const std::filesystem::path& file, std::uint64_t number,
                              std::string_view line) {
  std::int64_t time = 0;
  const TimeForm form = parse_time(field, time);
  if (form == TimeForm::kNone)
    fail_at_line(file, number, line,
                 in_quotes(field) + ": the time is no whole number and no date as 2004-04-15 or 2004-04-15T12:30:00");
  std::uint64_t& first = form == TimeForm::kDate ? date_line : number_line;
  if (first == 0) first = number;
  return time;
}

void TimeForms::add(const TimeForms& next, const std::filesystem::path& file) {
  if (number_line == 0) number_line = next.number_line;
  if (date_line == 0) date_line = next.date_line;
  if (number_line != 0 && date_line != 0)
    fail(ErrorKind::kBadData, line_name(file, std::max(number_line, date_line)) + ": the time is a " +
                                  (date_line > number_line ? "date" : "number") + ", that of line " +
                                  std::to_string(std::min(number_line, date_line)) + " is none");
}

void TimeForms::say(const std::filesystem::path& file) const {
  if (date_line != 0) log_info(file.string() + ": times are dates, stored as seconds since 1970");
}

}  // namespace salient
