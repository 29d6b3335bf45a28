// prepare/importers/edge_values.cpp - see edge_values.h.
#include "prepare/importers/edge_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/console/log.h"
#include "core/error.h"
#include "core/value_text.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"

namespace salient {
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
