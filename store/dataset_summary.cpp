// store/dataset_summary.cpp - see dataset_summary.h.
#include "store/dataset_summary.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>

#include "core/arena_of.h"
#include "core/number_text.h"
#include "core/printable.h"
#include "store/link_checks.h"
#include "store/schema_text.h"

namespace salient {
namespace {

struct LabelPairs {
  std::uint64_t equal = 0, known = 0;
  friend LabelPairs operator+(LabelPairs a, LabelPairs b) { return {a.equal + b.equal, a.known + b.known}; }
};

LabelPairs count_label_pairs(const Dataset& dataset) {
  using Range = oneapi::tbb::blocked_range<std::size_t>;
  const CsrGraph& graph = dataset.graph;
  return oneapi::tbb::parallel_reduce(
      Range(0, graph.num_nodes(), 1024), LabelPairs{},
      [&](const Range& range, LabelPairs sum) {
        for (std::size_t v = range.begin(); v < range.end(); ++v) {
          if (dataset.labels[v] < 0) continue;
          for (const NodeId u : graph.row(v)) {
            const std::int32_t other = dataset.labels[u];
            sum.known += other >= 0;
            sum.equal += other == dataset.labels[v];
          }
        }
        return sum;
      },
      [](LabelPairs a, LabelPairs b) { return a + b; });
}

void look_at_entries(const EntryData& entries, DatasetSummary& summary) {
  if (!entries.weights.empty()) {
    const auto [least, largest] = std::ranges::minmax(entries.weights);
    summary.least_weight = least;
    summary.largest_weight = largest;
    summary.weightless_entries = static_cast<std::uint64_t>(std::ranges::count(entries.weights, 0.F));
  }
  if (!entries.times.empty()) {
    const auto [first, last] = std::ranges::minmax(entries.times);
    summary.first_time = first;
    summary.last_time = last;
  }
}

/// Of several labels, or of targets.
void count_known(const Dataset& dataset, DatasetSummary& summary) {
  const LabelTable labels = dataset.label_table();
  const auto width = static_cast<std::size_t>(labels.type.width);
  std::uint64_t known = 0;
  for (NodeId v = 0; v < labels.num_nodes(); ++v) {
    const int known_here = labels.num_known(labels.first + v);
    known += static_cast<std::uint64_t>(known_here);
    if (known_here == 0) ++summary.unlabelled_nodes;
    for (std::size_t t = 0; t < width; ++t)
      if (labels.type.task == Task::kMultiLabel ? labels.flags[v * width + t] == 1
                                                : !std::isnan(labels.values[v * width + t]))
        ++summary.nodes_of_class[t];
  }
  summary.known_share = static_cast<double>(known) / static_cast<double>(labels.num_nodes() * width);
}

}  // namespace

DatasetSummary summarise(const Dataset& dataset, int num_threads) {
  DatasetSummary summary;
  const CsrGraph& graph = dataset.graph;
  std::vector<std::uint32_t> degrees(dataset.types.is_typed() ? 0 : graph.num_nodes());  // else of each relation
  for (std::size_t v = 0; v < degrees.size(); ++v) degrees[v] = graph.degree(v);
  summary.isolated_nodes = static_cast<std::uint64_t>(std::ranges::count(degrees, 0U));
  if (!degrees.empty()) {
    const auto at_share = [&](double share) {
      const auto at = degrees.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(degrees.size() - 1));
      std::nth_element(degrees.begin(), at, degrees.end());
      return *at;
    };
    summary.mean_degree = static_cast<double>(dataset.num_edges()) / static_cast<double>(degrees.size());
    summary.min_degree = at_share(0);
    summary.median_degree = at_share(0.5);
    summary.p99_degree = at_share(0.99);
    summary.max_degree = at_share(1);
  }
  look_at_entries(graph.entries, summary);
  summary.nodes_of_class.resize(static_cast<std::size_t>(dataset.num_classes));
  if (dataset.task != Task::kMultiClass) return count_known(dataset, summary), summary;
  for (const std::int32_t label : dataset.labels)
    ++(label < 0 ? summary.unlabelled_nodes : summary.nodes_of_class[static_cast<std::size_t>(label)]);
  if (dataset.types.is_typed()) return summary;
  oneapi::tbb::task_arena arena = arena_of(num_threads);
  const LabelPairs pairs = arena.execute([&] { return count_label_pairs(dataset); });
  if (pairs.known > 0) summary.equal_label_share = static_cast<double>(pairs.equal) / static_cast<double>(pairs.known);
  return summary;
}

std::string summary_text(const Dataset& dataset, const DatasetSummary& summary) {
  std::string text;
  const auto line = [&text](const std::string& label, const std::string& value) {
    text.append(summary_line(label, value));
  };
  line("name", printable(dataset.name) + " (" + dataset.source_kind + ")");
  if (dataset.types.is_typed()) {
    text += schema_text(dataset);
  } else {
    line("nodes", grouped(dataset.num_nodes()) + ", " + grouped(summary.isolated_nodes) + " isolated");
    line("edges", grouped(static_cast<std::uint64_t>(dataset.num_edges())) + " entries, " +
                      (dataset.is_symmetric ? "symmetric" : "directed"));
    line("degree", "mean " + fixed(summary.mean_degree, 2) + ", median " + grouped(summary.median_degree) + ", 99 % " +
                       grouped(summary.p99_degree) + ", max " + grouped(summary.max_degree));
    line("features", dataset.feature_dim > 0
                         ? features_text(dataset.feature_shape(), dataset.sparse_features.num_values(),
                                         dataset.num_nodes(), dataset.feature_bytes())
                         : "none; training needs some");
  }
  if (dataset.has_edge_weights)
    line("edge weights", printed("%.4g to %.4g", double{summary.least_weight}, double{summary.largest_weight}) + ", " +
                             grouped(summary.weightless_entries) + " entries of 0");
  if (dataset.has_edge_times)
    line("edge times", std::to_string(summary.first_time) + " to " + std::to_string(summary.last_time));
  if (dataset.edge_feature_dim > 0)
    line("edge features", features_text(dataset.edge_feature_shape(), 0, dataset.edge_features.num_rows,
                                        dataset.edge_features.num_rows * dataset.edge_features.row_bytes));
  if (dataset.has_node_times) {
    const auto [first, last] = std::ranges::minmax(dataset.node_times);
    line("node times", std::to_string(first) + " to " + std::to_string(last));
  }
  if (dataset.task == Task::kRegression) {
    const auto width = static_cast<std::size_t>(dataset.num_classes);
    for (std::size_t t = 0; t < width; ++t)
      line(t == 0 ? "targets" : "",
           (dataset.class_names.empty() ? std::to_string(t) : printable(dataset.class_names[t])) + ": " +
               grouped(summary.nodes_of_class[t]) + " values; of training nodes mean " +
               printed("%.4g", dataset.target_scales[t]) + ", deviation " +
               printed("%.4g", dataset.target_scales[width + t]));
    line("", grouped(summary.unlabelled_nodes) + " nodes without a value");
  } else if (dataset.task == Task::kMultiLabel) {
    const auto [rarest, largest] = std::ranges::minmax(summary.nodes_of_class);
    line("labels", std::to_string(dataset.num_classes) + " a node, each of " + grouped(rarest) + " to " +
                       grouped(largest) + " nodes; " + fixed(100 * summary.known_share, 1) + " % known; " +
                       grouped(summary.unlabelled_nodes) + " nodes unlabelled");
  } else if (!summary.nodes_of_class.empty()) {
    const auto [rarest, largest] = std::ranges::minmax(summary.nodes_of_class);
    line("classes", std::to_string(dataset.num_classes) + ", from " + grouped(rarest) + " to " + grouped(largest) +
                        " nodes; " + grouped(summary.unlabelled_nodes) + " nodes unlabelled");
    if (!dataset.types.is_typed())
      line("equal labels", fixed(100 * summary.equal_label_share, 1) + " % of the edges between labelled nodes");
  }
  if (dataset.has_links) return text + links_text(dataset);
  line("split", grouped(dataset.train.size()) + " train, " + grouped(dataset.valid.size()) + " valid, " +
                    grouped(dataset.test.size()) + " test");
  return text;
}

}  // namespace salient
