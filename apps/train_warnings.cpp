// apps/train_warnings.cpp - see train_warnings.h.
#include "apps/train_warnings.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/console/log.h"
#include "core/number_text.h"
#include "engine/plan/fanouts_of.h"
#include "engine/plan/graph_types_of.h"
#include "store/column_spread.h"

namespace salient {
namespace {

constexpr std::size_t kSampledRows = 4096;

/// "'name'" or "3", of a class or a column.
std::string called(const std::vector<std::string>& names, std::size_t i) {
  return names.empty() ? std::to_string(i) : "'" + names[i] + "'";
}

void warn_of_wide_column(const Dataset& dataset) {
  const std::string text = wide_column_text(column_deviations(dataset, kSampledRows), dataset.column_names);
  if (!text.empty()) log_warning(text + "; scale them, as salient-prepare edges --scale-features standard does");
}

/// Nodes of each class. @param nodes  with labels
std::vector<std::uint64_t> counts_of(const Dataset& dataset, std::span<const NodeId> nodes) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(dataset.num_classes), 0);
  for (const NodeId node : nodes)
    if (const std::int32_t label = dataset.class_of(node); label >= 0) ++counts[static_cast<std::size_t>(label)];
  return counts;
}

void warn_of_missing_classes(const Dataset& dataset) {
  constexpr std::size_t kMost = 5;
  if (dataset.task != Task::kMultiClass) return;
  const std::vector<std::uint64_t> in_train = counts_of(dataset, dataset.train),
                                   in_valid = counts_of(dataset, dataset.valid),
                                   in_test = counts_of(dataset, dataset.test);
  std::string names;
  std::size_t count = 0;
  for (std::size_t c = 0; c < in_train.size(); ++c)
    if (in_train[c] == 0 && in_valid[c] + in_test[c] > 0 && ++count <= kMost)
      names.append(names.empty() ? "" : ", ").append(called(dataset.class_names, c));
  if (count > kMost) names += " and " + std::to_string(count - kMost) + " more";
  if (count > 0)
    log_warning("no training node is of class " + names + ": it will never be predicted; draw another split");
}

}  // namespace

void note_unreached_types(const Dataset& dataset, const SamplingRule& rule) {
  for (const int type : unreached_types(dataset.types, rule))
    log_info("node type '" + dataset.types.node_types[static_cast<std::size_t>(type)].name +
             "' is in no neighbourhood of '" + dataset.types.target().name + "' within " +
             std::to_string(rule.fanouts.size()) + " hops: no relation leads there");
}

void note_unused_times(const Dataset& dataset, const TimeOptions& time) {
  if (dataset.has_edge_times && dataset.has_node_times && !time.rule())
    log_info("seeds see edges of all times, also those later than they; --time-rule lt shows them their past alone");
}

void note_edge_features(const Dataset& dataset, const ModelOptions& model) {
  if (dataset.edge_feature_dim == 0) return;
  const bool reads = fitted_to(model, dataset).edge_dim > model.time_encoding;
  log_info("features of edges: " + std::to_string(dataset.edge_feature_dim) +
           (reads ? ", which " + name_of(model.kind) + " reads"
                  : ", which are not read" + std::string(can_read_edge_features(model.kind)
                                                             ? ""
                                                             : "; sage, gat, gatv2, transformer and gine read them")));
}

void warn_of_data(const Dataset& dataset) {
  warn_of_missing_classes(dataset);
  warn_of_wide_column(dataset);
}

void warn_of_few_steps(std::size_t num_train, std::size_t seeds, std::size_t better, int better_size) {
  constexpr std::size_t kFew = 10;
  const std::size_t steps = (num_train + seeds - 1) / seeds, of_better = (num_train + better - 1) / better;
  if (num_train > 0 && steps < kFew && of_better > steps)
    log_warning("an epoch has " + std::to_string(steps) + (steps == 1 ? " step" : " steps") +
                ", few to learn from; --batch-size " + std::to_string(better_size) + " makes " +
                std::to_string(of_better));
}

void warn_of_leak(const LinkTrainOptions& options) {
  if (options.rule.exclude == ExcludedEntries::kNone)
    log_warning(
        "--exclude none: each batch sees the links that it is to predict among its messages, which teaches a "
        "model to look there; validation and test links are not there");
}

void warn_of_chance(const Dataset& dataset, const TrainResult& result) {
  if (result.metric != Metric::kAccuracy || !result.valid || result.epochs.size() < 2 ||
      dataset.task != Task::kMultiClass)
    return;
  const std::vector<std::uint64_t> counts = counts_of(dataset, dataset.valid);
  std::uint64_t all = 0;
  for (const std::uint64_t count : counts) all += count;
  if (all == 0) return;
  const double share = static_cast<double>(std::ranges::max(counts)) / static_cast<double>(all);
  if (*result.valid <= share)
    log_warning("validation was never better than always saying the largest class (" + fixed(share, 4) +
                "): look at the scales of the features and at the column of the labels, or train longer");
}

}  // namespace salient
