// prepare/importers/edges_options.cpp - see edges_options.h.
#include "prepare/importers/edges_options.h"

#include <algorithm>
#include <utility>

#include "core/value_text.h"
#include "prepare/importers/labelled_split.h"

namespace salient {

bool is_text_table(const std::filesystem::path& path) {
  return !path.empty() && path.extension() != ".npy" && path.extension() != ".npz";
}

std::filesystem::path time_table_of(const EdgesOptions& options) {
  for (const std::filesystem::path* table : {&options.nodes, &options.features, &options.labels})
    if (is_text_table(*table)) return *table;
  return {};
}

namespace {

bool has_node_times(const EdgesOptions& options) {
  return !options.node_times.empty() || !options.node_time_column.empty();
}

bool has_edge_features(const EdgesOptions& options) {
  return !options.edge_feature_columns.empty() || !options.edge_features.empty();
}

void check_edge_values(std::vector<FieldProblem>& found, const EdgesOptions& options) {
  check_field(found, options.weight_map == WeightMap::kNone || !options.weight_column.empty(), "weight-map",
              "of weights, which are not read");
  check_field(found, options.repeats != Repeats::kSum || !options.weight_column.empty(), "repeats",
              "sums are of weights, which are not read");
  check_field(found, options.repeats != Repeats::kSum || options.time_column.empty(), "repeats",
              "edges with times have no sum");
  check_field(found, options.time_column.empty() || options.time_column != options.weight_column, "time-column",
              "another one than the weights'");
  check_field(found, options.edge_features.empty() || options.edge_features.extension() == ".npy", "edge-features",
              "an array, .npy; of a table its columns are given");
  check_field(found, options.edge_features.empty() || options.edge_feature_columns.empty(), "edge-features",
              "instead of columns of features, not beside them");
  std::vector<std::string> columns = options.edge_feature_columns;
  std::ranges::sort(columns);
  check_field(found, std::ranges::adjacent_find(columns) == columns.end() && !std::ranges::count(columns, ""),
              "edge-feature-columns", "different columns, by name or counted from 0");
  check_field(found, options.repeats != Repeats::kSum || !has_edge_features(options), "repeats",
              "edges with features have no sum; first, keep or refuse");
}

/// Whether they say no more than how numbers are scaled.
bool are_of_array(ColumnWishes wishes) {
  wishes.scaling = FeatureScaling::kAuto;
  wishes.coding.reset();
  return wishes == ColumnWishes{};
}

/// Words that stand for a value that is not known.
std::vector<std::string> blanks_of(const EdgesOptions& options) {
  std::vector<std::string> blanks = options.unlabelled;
  const std::vector<std::string>& of_features =
      options.wishes.coding ? options.wishes.coding->blanks : options.wishes.blanks;
  blanks.insert(blanks.end(), of_features.begin(), of_features.end());
  return blanks;
}

/// Links that are asked for at their times.
void check_timed_links(std::vector<FieldProblem>& found, const EdgesOptions& options) {
  const bool is_split = !options.edge_split_by_time.empty();
  constexpr char kSplit[] = "edge-split-by-time", kGiven[] = "link-times";
  check_split(found, options.edge_split_by_time, kSplit);
  check_field(found, !is_split || (options.edge_split.empty() && !options.links.are_given()), kSplit,
              "instead of a split that is drawn, and of links that are given as files");
  check_field(found, !is_split || options.targets.empty(), kSplit,
              "of graphs whose nodes have classes or no labels; not with targets");
  check_field(found, !options.links.have_times || options.links.are_given(), kGiven,
              "of links that are given as files");
  check_field(found,
              !options.links.have_times || (options.weight_column.empty() && !has_edge_features(options) &&
                                            options.links.between == RepeatsBetween::kRefuse),
              kGiven, "not with weights and features of edges, and a pair may be a link in every split");
  if (!is_split && !options.links.have_times) return;
  const char* const field = is_split ? kSplit : kGiven;
  check_field(found, !options.time_column.empty(), field, "needs the column of the edges' times");
  check_field(found, options.repeats.value_or(Repeats::kKeep) == Repeats::kKeep, "repeats",
              "a pair is a link at each of its times; all are kept");
}

void check_links(std::vector<FieldProblem>& found, const EdgesOptions& options) {
  const LinkFiles& links = options.links;
  check_field(found, !links.are_given() || options.edge_split.empty(), "valid-edges",
              "instead of a split of the edges that is drawn, not beside it");
  check_field(found, !links.are_given() || options.targets.empty(), "valid-edges",
              "of graphs whose nodes have classes or no labels; not with targets");
  constexpr std::array kFields = {"train-negatives", "valid-negatives", "test-negatives"};
  const std::array are_there = {links.are_given(), !links.valid.empty(), !links.test.empty()};
  for (std::size_t s = 0; s < kFields.size(); ++s)
    check_field(found, links.negatives[s].empty() || are_there[s], kFields[s], "of links that are given as a file");
  check_field(found, links.between == RepeatsBetween::kRefuse || links.are_given(), "repeats-between",
              "of links that are given as files");
}

}  // namespace

std::vector<FieldProblem> problems(const EdgesOptions& options) {
  std::vector<FieldProblem> found;
  const bool has_files = !options.train.empty() || !options.valid.empty() || !options.test.empty();
  const bool has_nodes = !options.nodes.empty();
  check_field(found, !options.edges.empty(), "edges", "is needed, the file with the edges");
  check_field(found, !has_nodes || (options.features.empty() && options.labels.empty()), "nodes",
              "instead of files for features and labels, not beside them");
  check_field(found, !has_nodes || is_text_table(options.nodes), "nodes",
              "a table in text; arrays are given as features and labels");
  const bool has_labels = has_nodes || !options.labels.empty();
  for (const auto& [field, fractions] :
       {std::pair{"split", &options.split}, std::pair{"split-by-time", &options.split_by_time}}) {
    if (fractions->empty()) continue;
    check_split(found, *fractions, field);
    check_field(found, !has_files, field, "instead of files for train, valid and test, not beside them");
    check_field(found, has_labels, field, "needs labels, it is made of the labelled nodes");
  }
  check_split(found, options.edge_split, "edge-split");
  check_field(found, options.edge_split.empty() || options.targets.empty(), "edge-split",
              "of graphs whose nodes have classes or no labels; not with targets");
  check_links(found, options);
  check_timed_links(found, options);
  check_field(found, options.split.empty() || options.split_by_time.empty(), "split-by-time",
              "instead of a split that is drawn, not beside it");
  check_field(found, options.split_by_time.empty() || has_node_times(options), "split-by-time",
              "needs times of the nodes");
  check_field(found, options.node_times.empty() || options.node_times.extension() == ".npy", "node-times",
              "an array, .npy; of a table its column is given");
  check_field(found, options.node_times.empty() || options.node_time_column.empty(), "node-times",
              "instead of a column of times, not beside it");
  check_field(found, options.node_time_column.empty() || !time_table_of(options).empty(), "node-time-column",
              "of a table of nodes in text, which is not given");
  const bool chooses_labels =
      options.label_choice.compact || options.label_choice.one_hot || !options.label_choice.class_names.empty();
  check_field(found, !chooses_labels || has_labels, "labels", "are needed to choose what they mean");
  check_field(found, options.targets.empty() || has_labels, "target",
              "a column of the nodes or the labels, which are not given");
  check_field(found, options.targets.empty() || (!chooses_labels && options.label_column.empty()), "target",
              "instead of options that say what a label is");
  check_field(found, options.label_id_column.empty() || is_text_table(options.labels), "label-id-column",
              "of a table of labels in text, which is not given");
  check_field(found, options.unlabelled.empty() || has_nodes || is_text_table(options.labels), "unlabelled",
              "of labels in text, which are not given");
  const bool are_columns =
      options.columns.empty() || (options.columns.size() == 2 && options.columns[0] != options.columns[1] &&
                                  std::ranges::none_of(options.columns, &std::string::empty));
  check_field(found, are_columns, "columns", "two different columns, by name or counted from 0");
  const bool is_array =
      (options.features.extension() == ".npy" || (options.features.empty() && has_edge_features(options))) &&
      are_of_array(options.wishes);
  check_field(found, options.wishes == ColumnWishes{} || has_nodes || is_text_table(options.features) || is_array,
              "features", "a table in text is needed to say what its columns are; of an array they can be scaled");
  check_edge_values(found, options);
  check_field(found, options.mask >= 0, "mask", "at least 0");
  return found;
}

EdgeFileOptions edge_file_options(const EdgesOptions& options) {
  return {.columns = options.columns,
          .weight_column = options.weight_column,
          .time_column = options.time_column,
          .feature_columns = options.edge_feature_columns,
          .scaling = options.wishes.scaling,
          .feature_type = options.feature_type,
          .weight_map = options.weight_map,
          .ids = options.ids,
          .header = options.header,
          .num_threads = options.memory.num_parsers(options.num_threads),
          .memory = options.memory};
}

NodeTableOptions node_table_options(const EdgesOptions& options) {
  return {.id_column = options.id_column,
          .label_column = options.label_column,
          .targets = options.targets,
          .blanks = blanks_of(options),
          .header = options.header,
          .num_threads = options.memory.num_parsers(options.num_threads),
          .memory = options.memory};
}

std::string source_options_of(const EdgesOptions& options) {
  std::string text;
  const auto say = [&](const char* what, const std::string& value) {
    if (!value.empty()) text.append(text.empty() ? "" : " ").append(what).append(" ").append(value);
  };
  say("columns", to_text(options.columns));
  say("weight-column", options.weight_column);
  say("weight-map", options.weight_map == WeightMap::kNone ? "" : name_of(options.weight_map));
  say("time-column", options.time_column);
  say("edge-feature-columns", to_text(options.edge_feature_columns));
  say("edge-features", options.edge_features.string());
  say("node-times", options.node_times.string());
  say("node-time-column", options.node_time_column);
  say("split-by-time", to_text(options.split_by_time));
  say("edge-split", to_text(options.edge_split));
  say("edge-split-by-time", to_text(options.edge_split_by_time));
  say("valid-edges", options.links.valid.string());
  say("test-edges", options.links.test.string());
  say("link-times", options.links.have_times ? "yes" : "");
  say("repeats-between", options.links.between == RepeatsBetween::kRefuse ? "" : name_of(options.links.between));
  say("repeats", options.repeats ? name_of(*options.repeats) : "");
  return text;
}

}  // namespace salient
