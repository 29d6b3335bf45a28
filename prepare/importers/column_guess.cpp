// prepare/importers/column_guess.cpp - see column_guess.h.
#include "prepare/importers/column_guess.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "core/field_values.h"

namespace salient {
namespace {

constexpr std::size_t kLeastRows = 20;  // of a sample that says what words are

bool is_true_or_false(std::string_view text) { return text.size() > 3 && yes_or_no(text); }

/// The forms of days, with a time behind them or without: 2024-05-01, 1.5.2024, 05/01/24, 2024-05-01T12:00:00Z.
bool is_date(std::string_view text) {
  const std::string_view day = text.substr(0, text.find_first_of(" T"));
  const std::string form = form_of(day);
  return (form == "0-0-0" || form == "0.0.0" || form == "0/0/0") && day.size() >= 6 && day.size() <= 10;
}

/// 3,14 or 1,234,567 or 1'000.
bool is_number_with_commas(std::string_view text) {
  return text.find_first_not_of("+-0123456789.,'") == std::string_view::npos &&
         text.find_first_of(",'") != std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

}  // namespace

std::string form_of(std::string_view text) {
  std::string form;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const char kind = std::isdigit(byte) != 0 ? '0' : std::isalpha(byte) != 0 || byte >= 0x80 ? 'a' : c;
    if (form.empty() || form.back() != kind) form += kind;
  }
  return form;
}

std::string usual_form(const SampleRows& rows, std::size_t column) {
  std::map<std::string, std::size_t> counts;
  for (const std::vector<std::string>& row : rows)
    if (2 * ++counts[form_of(row[column])] > rows.size()) return form_of(row[column]);
  return "";
}

bool are_words_above_values(std::span<const std::string> first, const SampleRows& rows, std::optional<std::size_t> id) {
  const auto is_value = [](const std::string& field) {
    return is_number(field) || (is_missing(field) && !field.empty()) || is_true_or_false(field);
  };
  if (std::ranges::any_of(first, is_value)) return false;
  for (std::size_t column = 0; column < first.size(); ++column) {
    if (id == column || first[column].empty()) continue;
    std::size_t num_values = 0, num_there = 0;
    for (const std::vector<std::string>& row : rows) {
      if (is_missing(row[column])) continue;
      ++num_there;
      if (is_number(row[column]) || is_true_or_false(row[column])) ++num_values;
    }
    if (2 * num_values > num_there) return true;
  }
  return false;
}

WordsAbove words_above_words(std::span<const std::string> first, const SampleRows& rows,
                             std::optional<std::size_t> id) {
  if (rows.size() < kLeastRows) return WordsAbove::kRow;
  bool repeats = false;
  for (std::size_t column = 0; column < first.size(); ++column) {
    std::set<std::string_view> words;
    for (const std::vector<std::string>& row : rows) words.insert(row[column]);
    if (words.contains(first[column])) return WordsAbove::kRow;
    repeats = repeats || (id != column && 2 * words.size() <= rows.size());
  }
  if (!repeats) return WordsAbove::kRow;
  const std::string usual = usual_form(rows, id.value_or(0));
  return !usual.empty() && usual != form_of(first[id.value_or(0)]) ? WordsAbove::kHeader : WordsAbove::kUnclear;
}

ColumnKind kind_of_column(const SampleRows& rows, std::size_t column, const TableCoding& blanks, std::string& rule) {
  std::size_t num_numbers = 0, num_words = 0, num_yes_no = 0, num_dates = 0, num_commas = 0;
  rule.clear();
  for (const std::vector<std::string>& row : rows) {
    const std::string& field = row[column];
    if (blanks.is_blank(field)) continue;
    if (is_number(field)) {
      ++num_numbers;
      continue;
    }
    ++num_words;
    num_yes_no += yes_or_no(field) ? 1U : 0U;
    num_dates += is_date(field) ? 1U : 0U;
    num_commas += is_number_with_commas(field) ? 1U : 0U;
  }
  const std::size_t num_there = num_numbers + num_words;
  if (2 * num_dates > num_there) rule = "has dates, which are no numbers: make some of them, such as days since one";
  if (2 * (num_commas + num_numbers) > num_there && num_commas > 0)
    rule = "has numbers with commas; numbers have a decimal point, and nothing between thousands";
  if (num_words == 0 || (num_numbers > 0 && num_numbers >= num_words)) return ColumnKind::kNumber;
  return num_yes_no == num_there ? ColumnKind::kYesNo : ColumnKind::kCategory;
}

}  // namespace salient
