// prepare/importers/feature_columns.cpp - see feature_columns.h.
#include "prepare/importers/feature_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "core/field_values.h"
#include "core/half.h"
#include "core/value_text.h"

namespace salient {
namespace {

constexpr double kBlank = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMaxWishedCategories = 1000 * kMaxCategories;
constexpr std::size_t kMaxLines = 8;                     // of warnings of one kind
constexpr double kFarthest = 10, kLeastDeviation = 0.1;  // of numbers that FeatureScaling::kAuto leaves as they are

bool has(const std::vector<std::size_t>& places, std::size_t place) {
  return std::ranges::find(places, place) != places.end();
}

}  // namespace

FeatureColumns::FeatureColumns(const NodeTable& table, const ColumnWishes& wishes) : table_(table), wishes_(wishes) {
  coding_.blanks = wishes.coding ? wishes.coding->blanks : wishes.blanks;
  coding_.knows_blanks = !wishes.coding || wishes.coding->knows_blanks;
  used_ = places_of(wishes.dropped);
  const std::vector<std::size_t> dropped = used_, indices = places_of(wishes.indices);
  const std::vector<std::size_t> categories = places_of(wishes.categories);
  for (std::size_t place = 0; place < table.rows.num_columns; ++place) {
    if (table.id == place || table.label == place || table.time == place || table.is_index(place) ||
        has(dropped, place) || has(table.targets, place))
      continue;
    FeatureColumn column{.place = place, .coding = {.name = table.plain_name_of(place)}};
    column.is_wished = has(categories, place) || has(indices, place);
    if (!choose_kind(column, has(indices, place))) continue;
    used_.push_back(place);
    columns_.push_back(std::move(column));
  }
  if (wishes.coding) order_as_coded();
  if (columns_.empty())
    fail(ErrorKind::kBadData, table.file.path().string() + ": has no column of features beside the id");
  for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c].slot = c;
  width_ = columns_.size();
}

void FeatureColumns::refuse(std::uint64_t line, std::string_view field, const FeatureColumn& column,
                            const std::string& rule) const {
  fail_at_line(table_.file.path(), line, field, table_.name_of(column.place) + " " + rule, Topic::kTableColumn);
}

std::vector<std::size_t> FeatureColumns::places_of(const std::vector<std::string>& names) const {
  std::vector<std::size_t> places;
  for (const std::string& name : names) {
    places.push_back(column_named(name, table_.header, table_.file, Topic::kTableColumn));
    if (places.back() >= table_.rows.num_columns)
      fail(ErrorKind::kBadData, table_.file.path().string() + ": has " + std::to_string(table_.rows.num_columns) +
                                    " columns, none is " + in_quotes(name));
  }
  return places;
}

/// @return  whether the column is used
bool FeatureColumns::choose_kind(FeatureColumn& column, bool is_index) const {
  if (wishes_.coding) {
    const ColumnCoding* const coded = wishes_.coding->column_named(column.coding.name);
    if (coded != nullptr) column.coding = *coded;
    return coded != nullptr;
  }
  std::string rule;
  column.coding.kind = kind_of_column(table_.sample, column.place, coding_, rule);
  if (column.is_wished)
    column.coding.kind = is_index ? ColumnKind::kIndex : ColumnKind::kCategory;
  else if (!rule.empty())
    fail(ErrorKind::kBadData, table_.file.path().string() + ": " + table_.name_of(column.place) + " " + rule,
         Topic::kTableColumn);
  return true;
}

void FeatureColumns::order_as_coded() {
  std::vector<FeatureColumn> ordered;
  for (const ColumnCoding& wanted : wishes_.coding->columns) {
    const auto found = std::ranges::find(columns_, wanted.name, [](const FeatureColumn& c) { return c.coding.name; });
    if (found == columns_.end()) {
      const bool is_time = table_.time && table_.plain_name_of(*table_.time) == wanted.name;
      fail(ErrorKind::kBadData, table_.file.path().string() + (is_time ? ": " : ": has no column ") +
                                    in_quotes(wanted.name) +
                                    (is_time ? " is the column of times, and a feature in" : ", which") +
                                    " the table that it is to be coded as" + (is_time ? "" : " has"));
    }
    ordered.push_back(*found);
  }
  columns_ = std::move(ordered);
}

void FeatureColumns::parse(std::span<const std::string_view> fields, std::uint64_t line, RawFields& parsed) const {
  if (parsed.words.empty()) {
    parsed.words.resize(columns_.size());
    parsed.statistics.resize(columns_.size());
  }
  for (const FeatureColumn& column : columns_) {
    const std::string_view field = fields[column.place];
    if (!column.has_words())
      parsed.values.push_back(value_of(column, field, line));
    else
      parsed.values.push_back(coding_.is_blank(field) ? kBlank : parsed.words[column.slot].add(field));
    parsed.statistics[column.slot].add(parsed.values.back(), line);
  }
}

double FeatureColumns::value_of(const FeatureColumn& column, std::string_view field, std::uint64_t line) const {
  double value = 0;  // a float's own parser refuses 1e-50, which is 0
  const bool is_number = parse_number(field, value);
  const bool may_be_blank = !is_number || !coding_.blanks.empty() || std::isnan(value);  // most fields are neither
  if (may_be_blank && coding_.is_blank(field)) {
    if (!coding_.knows_blanks) refuse(line, field, column, kBlankRule);
    return kBlank;
  }
  if (column.coding.kind == ColumnKind::kYesNo) {
    if (const std::optional<bool> is_yes = yes_or_no(field)) return *is_yes ? 1 : 0;
    if (!is_number || (value != 0 && value != 1)) refuse(line, field, column, "is neither yes nor no");
  }
  if (!is_number) refuse(line, field, column, std::string("is no number") + number_hint(field));
  if (!std::isfinite(value)) refuse(line, field, column, "is not finite");
  if (std::fabs(value) > double{std::numeric_limits<float>::max()})
    refuse(line, field, column, "is beyond the range of a float");
  return value;
}

void FeatureColumns::take(RawFields& parsed) {
  if (parsed.values.empty()) return;
  for (FeatureColumn& column : columns_) {
    column.statistics.merge(parsed.statistics[column.slot]);
    if (column.has_words())
      number_words(column, parsed.words[column.slot].names(), std::span(parsed.values).subspan(column.slot));
  }
  parsed.words.clear();
}

/// From the numbers of a block to those of the table. @param values  every width_th is of this column
void FeatureColumns::number_words(FeatureColumn& column, const NameTable& words, std::span<double> values) const {
  const std::size_t limit = column.is_wished || wishes_.coding ? kMaxWishedCategories : kMaxCategories;
  std::vector<double> number_of(words.size());
  for (std::size_t w = 0; w < words.size() && column.reason.empty(); ++w) {
    number_of[w] = column.words.add(words[w]);
    if (column.words.size() > limit) column.reason = "more than " + std::to_string(limit) + " different words";
  }
  if (!column.reason.empty()) return;
  for (std::size_t i = 0; i < values.size(); i += width_)
    if (!std::isnan(values[i])) values[i] = number_of[static_cast<std::size_t>(values[i])];
}

bool FeatureColumns::may_be_plain(FeatureType type) const {
  if (wishes_.coding || wishes_.scaling == FeatureScaling::kStandard) return is_plain();
  const double most = wishes_.scaling == FeatureScaling::kAuto ? kFarthest
                      : type == FeatureType::kF16              ? double{kHalfMax}
                                                               : double{std::numeric_limits<float>::max()};
  return std::ranges::all_of(columns_, [&](const FeatureColumn& column) {
    return column.coding.kind == ColumnKind::kNumber && column.statistics.num_blanks() == 0 &&
           std::fabs(column.statistics.largest()) <= most;
  });
}

bool FeatureColumns::is_plain() const {
  return !coding_.columns.empty() && columns_.size() == width_ &&
         std::ranges::all_of(coding_.columns, &ColumnCoding::is_plain);
}

void FeatureColumns::finish(FeatureType type) {
  if (wishes_.coding) {
    say_unknown_words();
  } else {
    std::size_t num_left_out = 0;
    for (FeatureColumn& column : columns_) {
      finish_column(column, type);
      if (!column.reason.empty() && ++num_left_out <= kMaxLines)
        log_warning(table_.file.path().string() + ": " + table_.name_of(column.place) + " has " + column.reason +
                    ", and is left out");
    }
    std::erase_if(columns_, [](const FeatureColumn& column) { return !column.reason.empty(); });
    if (num_left_out > kMaxLines)
      log_warning(table_.file.path().string() + ": " + std::to_string(num_left_out) + " columns are left out");
  }
  if (columns_.empty())
    fail(ErrorKind::kBadData, table_.file.path().string() + ": has no column that can be a feature",
         Topic::kTableColumn);
  for (const FeatureColumn& column : columns_) coding_.columns.push_back(column.coding);
}

void FeatureColumns::finish_column(FeatureColumn& column, FeatureType type) const {
  const ColumnStatistics& found = column.statistics;
  ColumnCoding& coding = column.coding;
  const std::string name = table_.name_of(column.place);
  if (column.reason.empty() && found.count() == 0 && found.num_blanks() > 0) column.reason = "no value";
  if (!column.reason.empty() && column.is_wished)
    fail(ErrorKind::kBadData, table_.file.path().string() + ": " + name + " has " + column.reason, Topic::kTableColumn);
  if (!column.reason.empty()) return;
  coding.marks_blanks = found.num_blanks() > 0;
  if (column.has_words()) {
    for (std::size_t w = 0; w < column.words.size(); ++w) coding.categories.emplace_back(column.words.names()[w]);
    return std::ranges::sort(coding.categories), void();
  }
  coding.blank = found.mean();
  if (coding.kind == ColumnKind::kNumber && is_scaled(found, wishes_.scaling)) {
    coding.mean = found.mean();
    coding.deviation = found.deviation() > 0 ? found.deviation() : 1;
  } else if (type == FeatureType::kF16 && std::fabs(found.largest()) > double{kHalfMax}) {
    fail(ErrorKind::kBadData,
         line_name(table_.file.path(), found.line_of_largest()) + ": " + name + " is " + to_text(found.largest()) +
             ", beyond the f16 range of 65504",
         Topic::kHalfRange);
  }
}

bool is_scaled(const ColumnStatistics& found, FeatureScaling scaling) {
  if (scaling != FeatureScaling::kAuto) return scaling == FeatureScaling::kStandard;
  const bool is_narrow = found.deviation() > 0 && found.deviation() < kLeastDeviation && !found.is_binary();
  return std::fabs(found.largest()) > kFarthest || is_narrow;
}

void FeatureColumns::say_unknown_words() const {
  std::size_t count = 0;
  for (const FeatureColumn& column : columns_)
    for (std::size_t w = 0; column.has_words() && w < column.words.size(); ++w) {
      const std::string word(column.words.names()[w]);
      if (std::ranges::binary_search(column.coding.categories, word) || ++count > kMaxLines) continue;
      log_warning(table_.file.path().string() + ": " + table_.name_of(column.place) + " has the word " +
                  in_quotes(word) + ", which the coding does not have: none of its features is 1");
    }
  if (count > kMaxLines)
    log_warning(table_.file.path().string() + ": " + std::to_string(count) + " words that the coding does not have");
}

std::vector<double> FeatureColumns::coded(std::vector<double> values) const {
  if (is_plain()) return values;
  const std::size_t num_rows = values.size() / width_;
  std::vector<double> features(num_rows * static_cast<std::size_t>(coding_.width()));
  double* out = features.data();
  for (std::size_t row = 0; row < num_rows; ++row)
    for (const FeatureColumn& column : columns_) {
      const double value = values[row * width_ + column.slot];
      const std::span to(out, static_cast<std::size_t>(column.coding.width()));
      if (std::isnan(value))
        (void)code_blank(coding_, column.coding, to);
      else if (column.has_words())
        (void)code_word(column.coding, column.words.names()[static_cast<std::size_t>(value)], to);
      else
        (void)code_number(column.coding, value, to);
      out += to.size();
    }
  return features;
}

}  // namespace salient
