// store/dataset_summary.h - what a person wants to know about a data set at a glance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/dataset.h"

namespace salient {

struct DatasetSummary {
  std::uint64_t isolated_nodes = 0;
  std::uint64_t min_degree = 0, median_degree = 0, p99_degree = 0, max_degree = 0;
  double mean_degree = 0;
  float least_weight = 0, largest_weight = 0;   ///< of entries that have weights
  std::uint64_t weightless_entries = 0;         ///< of these those of weight 0, which no draw by weight takes
  std::int64_t first_time = 0, last_time = 0;   ///< of entries that have times
  std::vector<std::uint64_t> nodes_of_class{};  ///< [num_classes]; of labels: that have it, of targets: a value
  std::uint64_t unlabelled_nodes = 0;           ///< of kMultiLabel and kRegression: with no known label or value
  double known_share = 0;                       ///< of the same: share of all labels, or values, of all nodes
  double equal_label_share = 0;  ///< of kMultiClass: share of the entries between labelled nodes that join equal labels
};

/// Cost: two passes over the graph. @param num_threads  0 = all cores.
DatasetSummary summarise(const Dataset& dataset, int num_threads = 0);

/// Lines of "what   value", ready to be printed.
std::string summary_text(const Dataset& dataset, const DatasetSummary& summary);

}  // namespace salient
