// store/data_schema.cpp - see data_schema.h.
#include "store/data_schema.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/files/json_text.h"
#include "store/store_manifest.h"
#include "store/table_coding.h"

namespace salient {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

constexpr std::int32_t kAmbiguous = -1;

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Names as a run keeps them: without the bytes that JSON cannot hold.
Names as_kept(const Names& names) {
  const bool is_ascii = std::ranges::all_of(
      names, [](const std::string& name) { return std::ranges::all_of(name, [](char c) { return c >= 0; }); });
  return is_ascii ? names : Json::parse(dumped(names)).get<Names>();
}

/// In quotes, a long one cut.
std::string quoted(const std::string& name) {
  constexpr std::size_t kMost = 60;
  return "'" + name.substr(0, kMost) + (name.size() > kMost ? "...'" : "'");
}

/// "'a', 'b' and 7 others"
std::string listed(const Names& names) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, names.size()); ++i)
    text.append(i == 0 ? "" : ", ").append(quoted(names[i]));
  return names.size() > kMost ? text + " and " + std::to_string(names.size() - kMost) + " others" : text;
}

/// "column 'a'", "columns 'a', 'b'"
std::string listed(const std::string& what, const Names& names) {
  const char* const many = what.ends_with('s') ? "es " : "s ";
  return what + (names.size() == 1 ? " " : many) + listed(names);
}

/// Name -> its number, kAmbiguous where it is there twice.
std::unordered_map<std::string, std::int32_t> numbers_of(const Names& names) {
  std::unordered_map<std::string, std::int32_t> numbers;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [at, is_new] = numbers.emplace(names[i], static_cast<std::int32_t>(i));
    if (!is_new) at->second = kAmbiguous;
  }
  return numbers;
}

/// The numbers that the names are, if all are whole numbers as they are printed.
bool are_numbers(const Names& names) {
  return std::ranges::all_of(names, [](const std::string& name) {
    int number = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    return error == std::errc() && end == name.data() + name.size() && number >= 0 && std::to_string(number) == name;
  });
}

Names first_numbers(int count) {
  Names names;
  for (int i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

/// Fills class_of and unknown_classes.
void match_by_name(const Names& run, const Names& data, SchemaMatch& match) {
  const auto number_of = numbers_of(run);
  bool is_same = true;
  for (std::size_t c = 0; c < data.size(); ++c) {
    const auto known = number_of.find(data[c]);
    const bool is_known = known != number_of.end() && known->second != kAmbiguous;
    match.class_of.push_back(is_known ? known->second
                                      : static_cast<std::int32_t>(run.size() + match.unknown_classes.size()));
    if (!is_known) match.unknown_classes.push_back(data[c]);
    is_same = is_same && std::cmp_equal(match.class_of.back(), c);
  }
  if (is_same) match.class_of.clear();
}

void match_classes(const DataSchema& run, const DataSchema& data, SchemaMatch& match) {
  const std::string kind = words_of(run.task).outputs;
  if (data.num_classes == 0) {
    match.has_comparable_labels = false;
    match.remarks.emplace_back("has no labels to compare predictions with");
    return;
  }
  if (data.task != run.task) {
    match.has_comparable_labels = false;
    match.remarks.push_back("has " + std::string(words_of(data.task).of_node) + ", which are not compared with the " +
                            kind + " that the run predicts");
    return;
  }
  const Names run_names = as_kept(run.class_names), data_names = as_kept(data.class_names);
  if (!run_names.empty() && run_names == data_names) return;
  const auto by_number = [&] {
    return match_by_name(first_numbers(run.num_classes), first_numbers(data.num_classes), match);
  };
  if (run_names.empty() && data_names.empty()) {
    match.remarks.push_back("has " + kind + " without names, as the run has: they are compared by number");
    return by_number();
  }
  if (run_names.empty() ? !are_numbers(data_names) : data_names.empty() && !are_numbers(run_names)) {
    match.remarks.push_back((run_names.empty() ? "has names of " + kind + ", the run has none"
                                               : "has no names of " + kind + ", as the run has") +
                            ": they are compared by number, from 0");
    return by_number();
  }
  match_by_name(run_names.empty() ? first_numbers(run.num_classes) : run_names,
                data_names.empty() ? first_numbers(data.num_classes) : data_names, match);
  if (!match.class_of.empty())
    match.remarks.push_back("has its " + kind + " in another order, or others: they are compared by name");
}

void say_what_is_unknown(const DataSchema& run, SchemaMatch& match) {
  if (match.unknown_classes.empty()) return;
  const auto consequence = [&] {
    switch (run.task) {
      case Task::kMultiClass: return "accuracy counts nodes of theirs as wrong";
      case Task::kMultiLabel: return "accuracy and F1 leave them out";
      case Task::kRegression: return "errors leave them out";
    }
    return "";
  };
  match.remarks.push_back("has the " + listed(words_of(run.task).output, match.unknown_classes) +
                          ", which the run does not know: " + consequence());
}

std::string text_of(const FeatureOrigin& origin) {
  if (origin.empty()) return "come from its source";
  std::string text = "are made:";
  for (const auto& [name, value] : origin) text.append(" ").append(name).append(" ").append(value);
  return text;
}

void match_columns_by_name(const Names& run, const Names& data, SchemaMatch& match) {
  const auto number_of = numbers_of(data);
  Names missing, twice, extra;
  for (const std::string& name : run) {
    const auto found = number_of.find(name);
    if (found == number_of.end())
      missing.push_back(name);
    else if (found->second == kAmbiguous)
      twice.push_back(name);
    else
      match.column_of.push_back(static_cast<std::uint32_t>(found->second));
  }
  const auto of_run = numbers_of(run);
  for (const std::string& name : run)
    if (of_run.at(name) == kAmbiguous && std::ranges::find(twice, name) == twice.end()) twice.push_back(name);
  for (const std::string& name : data)
    if (!of_run.contains(name)) extra.push_back(name);
  const std::string also = extra.empty() ? "" : "; it has the " + listed("column", extra) + ", which the run lacks";
  if (!missing.empty())
    match.reasons.push_back("lacks the " + listed("column", missing) + " that the run was trained on" + also);
  if (!twice.empty())
    match.reasons.push_back("cannot be matched: the " + listed("column", twice) + " is there, or in the run, twice");
  if (!match.reasons.empty()) return match.column_of.clear();
  match.remarks.push_back("has its columns of features in another order, or others: they are found by name");
  if (!extra.empty()) match.remarks.push_back("has the " + listed("column", extra) + ", which the run does not use");
}

void match_columns(const DataSchema& run, const DataSchema& data, FeatureMatch rule, SchemaMatch& match) {
  const std::string widths = "has " + std::to_string(data.feature_dim) + " features, the run was trained on " +
                             std::to_string(run.feature_dim);
  if (data.feature_dim == 0) return match.reasons.emplace_back("has no features to predict from"), void();
  if (rule == FeatureMatch::kPlace) {
    if (data.feature_dim != run.feature_dim) match.reasons.push_back(widths);
    match.remarks.emplace_back("has features that are taken as they come, as asked for");
    return;
  }
  if (run.is_complete && run.feature_origin != data.feature_origin) {
    const std::optional<TableCoding> of_run = coding_of(run.feature_origin, "the run"),
                                     of_data = coding_of(data.feature_origin, "the data set");
    const std::string difference = of_run && of_data ? difference_of(*of_run, *of_data) : "features of another kind";
    if (of_run || of_data) {
      if (!difference.empty())
        match.reasons.push_back("has a table that was coded in another way than the run's: " + difference);
      else
        match_columns_by_name(as_kept(run.column_names), as_kept(data.column_names), match);
      return;
    }
    match.reasons.push_back("has features that " + text_of(data.feature_origin) + "; those of the run's data set " +
                            text_of(run.feature_origin));
    return;
  }
  const Names run_names = as_kept(run.column_names), data_names = as_kept(data.column_names);
  if (!run_names.empty() && !data_names.empty()) {
    if (run_names != data_names) match_columns_by_name(run_names, data_names, match);
    return;
  }
  if (data.feature_dim != run.feature_dim) match.reasons.push_back(widths);
  if (!data.feature_origin.empty())
    match.remarks.push_back("has features that " + text_of(data.feature_origin) +
                            ", from another graph than those that the run was trained on");
  else
    match.remarks.push_back(std::string(run_names.empty() ? "has columns of features that the run has no names for"
                                                          : "has no names of the columns of its features") +
                            ": they are taken as they come");
}

}  // namespace

std::string to_json_text(const DataSchema& schema) {
  Json json{{"task", name_of(schema.task)},        {"num_classes", schema.num_classes},
            {"feature_dim", schema.feature_dim},   {"class_names", schema.class_names},
            {"column_names", schema.column_names}, {"feature_origin", schema.feature_origin}};
  if (schema.task == Task::kRegression) json["target_scales"] = schema.target_scales;
  return dumped(json);
}

namespace {

/// Positive deviations for every target, none without targets.
bool has_scales(const DataSchema& schema) {
  const std::size_t count = schema.task == Task::kRegression ? static_cast<std::size_t>(schema.num_classes) : 0;
  return schema.target_scales.size() == 2 * count &&
         std::ranges::all_of(std::span(schema.target_scales).subspan(count), [](double d) { return d > 0; });
}

}  // namespace

DataSchema schema_from_json(std::string_view text, const std::string& file) {
  DataSchema schema;
  try {
    const Json json = parse_json<Json>(text);
    schema = {.task = value_named<Task>(json.at("task").get<std::string>()).value_or(Task::kMultiClass),
              .num_classes = json.at("num_classes"),
              .feature_dim = json.at("feature_dim"),
              .class_names = json.at("class_names"),
              .column_names = json.at("column_names"),
              .feature_origin = json.at("feature_origin"),
              .target_scales = json.value("target_scales", TargetScales())};
  } catch (const nlohmann::json::exception& cause) {
    fail(ErrorKind::kBadData, file + ": does not say what a run was trained on: " + cause.what());
  }
  const auto fits = [](const Names& names, int count) { return names.empty() || std::cmp_equal(names.size(), count); };
  if (schema.num_classes < 0 || schema.num_classes > kMaxClasses || schema.feature_dim < 0 ||
      !fits(schema.class_names, schema.num_classes) || !fits(schema.column_names, schema.feature_dim) ||
      !has_scales(schema))
    fail(ErrorKind::kBadData, file + ": does not say what a run was trained on: as many names as classes and columns");
  return schema;
}

SchemaMatch match_schemas(const DataSchema& run, const DataSchema& data, FeatureMatch features) {
  SchemaMatch match;
  match_columns(run, data, features, match);
  match_classes(run, data, match);
  say_what_is_unknown(run, match);
  if (!run.is_complete)
    match.remarks.emplace_back(
        "is used by a run that did not keep names of classes and columns, nor how features were made");
  return match;
}

}  // namespace salient
