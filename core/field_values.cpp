// core/field_values.cpp - see field_values.h.
#include "core/field_values.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <span>

namespace salient {

bool is_missing(std::string_view text) {
  constexpr std::string_view kMissing[] = {"",    "nan",  "NaN",  "NAN",  "NA",   "<NA>", "N/A", "n/a", "#N/A",
                                           "#NA", "null", "NULL", "Null", "None", "\\N",  "?",   "NaT"};
  const bool may_be = text.empty() || std::string_view("nN<#\\?").find(text[0]) != std::string_view::npos;
  return may_be && std::ranges::find(kMissing, text) != std::end(kMissing);
}

std::optional<bool> yes_or_no(std::string_view text) {
  constexpr std::string_view kYes[] = {"true", "yes", "t", "y"}, kNo[] = {"false", "no", "f", "n"};
  const auto is_one_of = [&](std::span<const std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) {
      return std::ranges::equal(word, text, {}, {}, [](unsigned char c) { return std::tolower(c); });
    });
  };
  if (text.size() > 5) return std::nullopt;
  if (is_one_of(kYes)) return true;
  return is_one_of(kNo) ? std::optional(false) : std::nullopt;
}

}  // namespace salient
