// apps/prepare_edges.cpp - see prepare_edges.h.
#include "apps/prepare_edges.h"

#include <optional>
#include <string>
#include <utility>

#include "apps/missing_dataset.h"
#include "apps/prepare_steps.h"
#include "store/open_store.h"
#include "store/table_coding.h"

namespace salient::prepare {
namespace {

/// How the features of a data set are coded: by its table, or as the columns that they are.
TableCoding coding_of_dataset(const std::string& directory) {
  const Dataset dataset = open_or_advise(
      directory, [&] { return open_store(directory, /*num_threads=*/0, FeatureFile::kOrParts).dataset; });
  std::optional<TableCoding> coding = coding_of_columns(dataset.feature_origin, dataset.column_names, directory);
  require_option(coding.has_value(),
                 "--features-as: the features of " + directory + " do not come from a table with names of columns");
  return *std::move(coding);
}

ColumnWishes wishes_of(const TableOptions& table) {
  ColumnWishes wishes{.scaling = table.scale_features,
                      .dropped = table.drop_columns,
                      .categories = table.categorical,
                      .indices = table.index_columns,
                      .blanks = table.missing};
  if (table.features_as.empty()) return wishes;
  require_option(wishes == ColumnWishes{}, "--features-as: instead of options that say what columns are");
  wishes.coding = coding_of_dataset(table.features_as);
  return wishes;
}

}  // namespace

EdgesOptions edges_options(const EdgesArguments& given) {
  require_option(given.label.empty() || given.label_column.empty(), "--label or --label-column: one of them, not both");
  require_option(given.label.empty() || given.target.empty(), "--label or --target: one of them, not both");
  require_option(given.label.empty() || !given.nodes.empty(), "--label: a column of --nodes, which is not given");
  return {.edges = given.edges,
          .nodes = given.nodes,
          .features = given.features,
          .labels = given.labels,
          .train = given.train,
          .valid = given.valid,
          .test = given.test,
          .mask = given.mask,
          .split = given.split,
          .split_by_time = given.columns.of_nodes.split_by_time,
          .edge_split = given.columns.edge_split,
          .edge_split_by_time = given.columns.edge_split_by_time,
          .links = {.valid = given.columns.links.valid_edges,
                    .test = given.columns.links.test_edges,
                    .negatives = {given.columns.links.train_negatives, given.columns.links.valid_negatives,
                                  given.columns.links.test_negatives},
                    .between = given.columns.links.repeats_between,
                    .have_times = given.columns.links.link_times},
          .columns = given.columns.columns,
          .weight_column = given.columns.weight_column,
          .time_column = given.columns.time_column,
          .edge_feature_columns = given.columns.edge_feature_columns,
          .edge_features = given.columns.edge_features,
          .weight_map = given.columns.weight_map,
          .repeats = given.columns.repeats,
          .id_column = given.id_column,
          .label_column = given.label.empty() ? given.label_column : given.label,
          .label_id_column = given.label_id_column,
          .node_times = given.columns.of_nodes.node_times,
          .node_time_column = given.columns.of_nodes.node_time_column,
          .targets = given.target,
          .unlabelled = given.unlabelled,
          .ids = given.ids,
          .header = given.header,
          .wishes = wishes_of(given.table),
          .label_choice = choice_of(given.label_choice),
          .name = set_name(given.name, given.write),
          .feature_type = gathered_type(given.write.feature_dtype),
          .symmetric = given.write.symmetric,
          .rng_seed = given.write.rng_seed,
          .num_threads = given.write.common.threads,
          .memory = limit_of_importer(given.write)};
}

}  // namespace salient::prepare
