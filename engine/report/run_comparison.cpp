// engine/report/run_comparison.cpp - see run_comparison.h.
#include "engine/report/run_comparison.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace salient {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;
using Members = std::vector<std::size_t>;

constexpr const char* kAbsent = "not set";
constexpr std::size_t kMaxLabel = 40;

std::string plain_text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string value_of(const Values& values, const std::string& name) {
  const auto found = std::ranges::find(values, name, &Values::value_type::first);
  return found == values.end() ? kAbsent : found->second;
}

Values facts_of(const RunFiles& files) {
  Values facts{{"program", text_of(files.run, "program")}};
  for (const char* part : {"machine", "resolved", "versions"}) {
    if (!files.run.contains(part) || !files.run[part].is_object()) continue;
    for (const auto& [name, value] : files.run[part].items()) facts.emplace_back(name, plain_text(value));
  }
  return facts;
}

std::string metric_of(const RunFiles& files) {
  const std::string metric = files.run.contains("resolved") ? text_of(files.run["resolved"], "metric") : "";
  return metric.empty() || metric == "auto" ? "accuracy" : metric;
}

/// Names of which the runs have more than one value, in the order in which they appear.
std::vector<std::string> names_that_differ(const std::vector<Values>& of_runs, const Members& runs) {
  std::vector<std::string> names;
  for (const std::size_t run : runs)
    for (const auto& [name, value] : of_runs[run]) {
      const auto differs = [&](std::size_t other) { return value_of(of_runs[other], name) != value; };
      if (!std::ranges::count(names, name) && std::ranges::any_of(runs, differs)) names.push_back(name);
    }
  return names;
}

/// Of each name the values that the runs have, each once: "2 / 4".
Json values_of(const std::vector<std::string>& names, const std::vector<Values>& of_runs, const Members& runs) {
  Json texts = Json::array();
  for (const std::string& name : names) {
    std::vector<std::string> values;
    for (const std::size_t run : runs) {
      std::string value = value_of(of_runs[run], name);
      if (!std::ranges::count(values, value)) values.push_back(std::move(value));
    }
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : " / ") + value;
    texts.push_back(text);
  }
  return texts;
}

using Group = std::pair<Json, Members>;  ///< the values of the options that differ, and the runs that have them

/// Of each option the value that most groups have, the first of those that are as frequent.
Json common_values(const std::vector<Group>& groups, std::size_t num_options) {
  Json common = Json::array();
  for (std::size_t i = 0; i < num_options; ++i) {
    const auto times = [&](const Group& group) {
      return std::ranges::count_if(groups, [&](const Group& other) { return other.first[i] == group.first[i]; });
    };
    common.push_back(std::ranges::max_element(groups, {}, times)->first[i]);
  }
  return common;
}

/// "hidden 256, lr 0.01": the options whose value is not that of `common`, which may have none.
std::string options_text(const std::vector<std::string>& names, const Json& values, const Json& common) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (common.empty() || values[i] != common[i])
      text += (text.empty() ? "" : ", ") + names[i] + " " + values[i].get<std::string>();
  return text;
}

/// Of each group its options that differ; of all groups, where one of these texts is too long, those that are not
/// common; where that is, too, nothing differs, or is not known, the name of a run.
std::vector<std::string> labels_of(const std::vector<std::string>& names, const std::vector<Group>& groups,
                                   std::span<const ComparedRun> runs) {
  const bool all_fit = std::ranges::all_of(
      groups, [&](const Group& group) { return options_text(names, group.first, {}).size() <= kMaxLabel; });
  const Json common = all_fit ? Json() : common_values(groups, names.size());
  std::vector<std::string> labels;
  for (const auto& [values, members] : groups) {
    const ComparedRun& first = runs[members[0]];
    std::string text = options_text(names, values, common);
    const bool is_known = !names.empty() && !first.files.config.empty();
    if (is_known && text.empty()) text = "the common options";
    if (!is_known || text.size() > kMaxLabel)
      text = members.size() == 1 ? first.name : first.name + " and " + std::to_string(members.size() - 1) + " more";
    labels.push_back(std::move(text));
  }
  return labels;
}

Json set_json(const Members& members, std::span<const ComparedRun> runs) {
  std::vector<Values> options, facts;
  for (const ComparedRun& run : runs) {
    options.push_back(compared_options(run.files.config));
    facts.push_back(facts_of(run.files));
  }
  const std::vector<std::string> names = names_that_differ(options, members);
  std::vector<Group> groups;
  for (const std::size_t run : members) {
    const Json values = values_of(names, options, {run});
    const auto found = std::ranges::find(groups, values, &Group::first);
    if (found == groups.end() || runs[run].files.config.empty())  // unknown options are not the same
      groups.emplace_back(values, Members{run});
    else
      found->second.push_back(run);
  }
  const std::vector<std::string> fact_names = names_that_differ(facts, members);
  const std::vector<std::string> labels = labels_of(names, groups, runs);
  Json list = Json::array();
  for (std::size_t i = 0; i < groups.size(); ++i)
    list.push_back({{"label", labels[i]},
                    {"runs", groups[i].second},
                    {"options", groups[i].first},
                    {"facts", values_of(fact_names, facts, groups[i].second)}});
  return {{"options", names}, {"facts", fact_names}, {"groups", list}};
}

/// The columns of an epoch that the page shows.
Json row_json(const Json& row) {
  Json shown = Json::object();
  for (const auto& [name, value] : row.items())
    if (name == "epoch" || name == "loss" || name == "batches" || name == "train_accuracy" ||
        name.starts_with("valid_") || name.starts_with("test_") || name.ends_with("_seconds"))
      shown[name] = value;
  return shown;
}

Json run_json(const ComparedRun& compared) {
  const auto& [run, config, metrics] = compared.files;
  const auto [state, detail] = shown_status(run);
  Json rows = Json::array();
  for (const Json& row : metrics) rows.push_back(row_json(row));
  return {{"name", compared.name},
          {"link", compared.link},
          {"state", state},
          {"detail", detail},
          {"seed", option_of(config, "seed")},
          {"epochs", option_of(config, "epochs")},
          {"result", run.contains("result") && run["result"].is_object() ? run["result"] : Json::object()},
          {"rows", rows}};
}

/// What runs must share to be compared.
struct SetKey {
  std::string name{}, metric{}, fingerprint{};
  auto operator<=>(const SetKey&) const = default;
};

SetKey key_of(const RunFiles& files) {
  const Json& dataset = files.run.contains("dataset") ? files.run["dataset"] : Json();
  const std::string name = text_of(dataset, "name");
  return {name.empty() ? "unknown data set" : name, metric_of(files), text_of(dataset, "fingerprint")};
}

}  // namespace

Json compare_runs(std::span<const ComparedRun> runs) {
  Json all = Json::array(), sets = Json::array();
  std::vector<std::pair<SetKey, Members>> found;  // in the order in which runs are named
  for (std::size_t i = 0; i < runs.size(); ++i) {
    all.push_back(run_json(runs[i]));
    const SetKey key = key_of(runs[i].files);
    auto set = std::ranges::find(found, key, &std::pair<SetKey, Members>::first);
    if (set == found.end()) set = found.insert(found.end(), {key, {}});
    set->second.push_back(i);
  }
  for (const auto& [key, members] : found) {
    const auto is_alike = [&key = key](const auto& other) {
      return other.first.name == key.name && other.first.metric == key.metric;
    };
    const bool is_unique = std::ranges::count_if(found, is_alike) == 1;
    Json set = set_json(members, runs);
    set["title"] = key.name + ", by " + key.metric + (is_unique ? "" : ", fingerprint " + key.fingerprint);
    set["metric"] = key.metric;
    set["synthetic"] = is_synthetic(runs[members[0]].files.run);
    sets.push_back(std::move(set));
  }
  return {{"runs", all}, {"sets", sets}};
}

}  // namespace salient
