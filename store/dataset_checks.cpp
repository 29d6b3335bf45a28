// store/dataset_checks.cpp - see dataset_checks.h.
#include "store/dataset_checks.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/fp8.h"
#include "core/number_text.h"
#include "store/edge_hash.h"
#include "store/store_arrays.h"

namespace salient {
namespace {

using Range = oneapi::tbb::blocked_range<std::size_t>;
constexpr std::size_t kGrain = 1 << 16;
constexpr std::size_t kNone = ~std::size_t{0};

/// The lowest i in [0, count) that breaks a rule, or kNone. The first pass over a block has no early exit and no result
/// but one bit, so the compiler vectorises it: the scan runs at the speed of memory.
template <class IsBad>
std::size_t first_bad(std::size_t count, IsBad is_bad) {
  return oneapi::tbb::parallel_reduce(
      Range(0, count, kGrain), kNone,
      [&](const Range& range, std::size_t found) {
        bool any = false;
        for (std::size_t i = range.begin(); i < range.end(); ++i) any |= is_bad(i);
        for (std::size_t i = range.begin(); any && i < range.end() && i < found; ++i)
          if (is_bad(i)) found = i;
        return found;
      },
      [](std::size_t a, std::size_t b) { return std::min(a, b); });
}

/// Sum of `term(v)` over all rows; the sums of the parts may be added in any order, as unsigned addition wraps.
template <class Term>
std::uint64_t sum_over(std::size_t count, std::size_t grain, Term term) {
  return oneapi::tbb::parallel_reduce(
      Range(0, count, grain), std::uint64_t{0},
      [&](const Range& range, std::uint64_t sum) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) sum += term(i);
        return sum;
      },
      std::plus<>());
}

/// What an entry has beside its ends: equal values give equal numbers, others by chance alone.
std::uint64_t hash_of_values(const EntryData& entries, std::size_t entry) {
  std::uint64_t hash = 0;
  if (!entries.weights.empty()) hash = std::bit_cast<std::uint32_t>(entries.weights[entry] + 0.F);  // of -0 as of 0
  if (!entries.times.empty()) hash += static_cast<std::uint64_t>(entries.times[entry]) * 0x9E3779B97F4A7C15;
  return hash * 0xD6E8FEB86659FD93;
}

/// The same of a row of bytes; 0 of a table without rows.
std::uint64_t hash_of_row(const RowTable& rows, std::size_t row) {
  std::uint64_t hash = 0;
  const std::byte* const data = rows.data + row * rows.row_bytes;
  for (std::size_t at = 0; at < rows.row_bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + at, std::min(sizeof(word), rows.row_bytes - at));
    hash = (hash ^ word) * 0xD6E8FEB86659FD93;
    hash ^= hash >> 32;
  }
  return hash;
}

std::size_t row_of_entry(CsrGraph graph, std::size_t entry) {
  const auto past = std::ranges::upper_bound(graph.indptr, static_cast<EdgeOffset>(entry));
  return static_cast<std::size_t>(past - graph.indptr.begin() - 1);
}

/// How often `id` is in a row; rows ascend by neighbour, or by time. (clang 14 cannot read libstdc++ 12's
/// std::ranges::equal_range.)
std::uint64_t times_in_row(CsrGraph graph, std::size_t node, NodeId id) {
  const auto row = graph.row(node);
  if (!graph.entries.times.empty()) return static_cast<std::uint64_t>(std::ranges::count(row, id));
  const auto [begin, end] = std::equal_range(row.begin(), row.end(), id);
  return static_cast<std::uint64_t>(end - begin);
}

}  // namespace

void DatasetChecks::refuse(const std::string& file, const std::string& what) const {
  fail(ErrorKind::kBadData, (directory_ / file).string() + ": " + what, Topic::kDamagedStore);
}

void DatasetChecks::check_indptr(std::span<const EdgeOffset> indptr, std::uint64_t num_edges) const {
  if (indptr.front() != 0) refuse("indptr.npy", "row 0 starts at " + std::to_string(indptr.front()) + ", not at 0");
  const std::size_t row = first_bad(indptr.size() - 1, [&](std::size_t v) { return indptr[v] > indptr[v + 1]; });
  if (row != kNone)
    refuse("indptr.npy", "row " + std::to_string(row) + " starts at " + std::to_string(indptr[row]) + " and ends at " +
                             std::to_string(indptr[row + 1]) + ", before its start");
  constexpr EdgeOffset kLongestRow = std::numeric_limits<std::uint32_t>::max();
  const std::size_t longest =
      first_bad(indptr.size() - 1, [&](std::size_t v) { return indptr[v + 1] - indptr[v] > kLongestRow; });
  if (longest != kNone) refuse("indptr.npy", "row " + std::to_string(longest) + " has 2^32 entries or more");
  if (static_cast<std::uint64_t>(indptr.back()) != num_edges)
    refuse("indptr.npy", "the last row ends at " + std::to_string(indptr.back()) + ", the graph has " +
                             std::to_string(num_edges) + " edges");
}

void DatasetChecks::check_node_names(std::span<const std::int64_t> begin, std::uint64_t num_characters) const {
  const std::size_t node = first_bad(begin.size() - 1, [&](std::size_t v) { return begin[v] > begin[v + 1]; });
  if (node != kNone)
    refuse(kNodeNamesBeginArray.file, "the name of node " + std::to_string(node) + " ends before its start");
  if (begin.front() != 0 || static_cast<std::uint64_t>(begin.back()) != num_characters)
    refuse(kNodeNamesBeginArray.file, "names are characters " + std::to_string(begin.front()) + " to " +
                                          std::to_string(begin.back()) + ", there are " +
                                          std::to_string(num_characters));
}

void DatasetChecks::check_sparse_rows(const SparseRowTable& rows, int feature_dim, const FeatureNames& names) const {
  const std::string begin_file = names.begin + ".npy";
  const std::span<const std::int64_t> begin = rows.begin;
  const std::size_t num_rows = begin.size() - 1;
  const std::size_t row = first_bad(num_rows, [=](std::size_t v) { return begin[v] > begin[v + 1]; });
  if (row != kNone) refuse(begin_file, "row " + std::to_string(row) + " ends before its start");
  if (begin.front() != 0 || static_cast<std::uint64_t>(begin.back()) != rows.num_values())
    refuse(begin_file, "rows are values " + std::to_string(begin.front()) + " to " + std::to_string(begin.back()) +
                           ", there are " + std::to_string(rows.num_values()));
  const auto goes_wrong = [&](std::size_t v) {
    const auto columns =
        rows.columns.subspan(static_cast<std::size_t>(begin[v]), static_cast<std::size_t>(begin[v + 1] - begin[v]));
    bool is_bad = !columns.empty() && columns.back() >= static_cast<std::uint32_t>(feature_dim);
    for (std::size_t k = 1; k < columns.size(); ++k) is_bad |= columns[k - 1] >= columns[k];
    return is_bad;
  };
  const std::size_t bad = first_bad(num_rows, goes_wrong);
  if (bad != kNone)
    refuse(names.columns + ".npy", "row " + std::to_string(bad) + ": columns are ascending, each once, and below " +
                                       std::to_string(feature_dim));
}

void DatasetChecks::check_indices(CsrGraph graph) const {
  const auto num_nodes = static_cast<NodeId>(graph.num_nodes());
  const NodeId* indices = graph.indices.data();
  const std::size_t entry = first_bad(graph.indices.size(), [=](std::size_t e) { return indices[e] >= num_nodes; });
  if (entry == kNone) return;
  refuse("indices.npy", "entry " + std::to_string(entry) + " (row " + std::to_string(row_of_entry(graph, entry)) +
                            ") is " + std::to_string(indices[entry]) + ", the graph has " + std::to_string(num_nodes) +
                            " nodes");
}

void DatasetChecks::check_entries(CsrGraph graph) const {
  check_weights(graph);
  check_times(graph);
}

void DatasetChecks::check_weights(CsrGraph graph) const {
  const float* weights = graph.entries.weights.data();
  const std::size_t entry = first_bad(graph.entries.weights.size(), [=](std::size_t e) {
    return !(weights[e] >= 0 && weights[e] <= std::numeric_limits<float>::max());
  });
  if (entry != kNone)
    refuse(kEdgeWeightsArray.file, "entry " + std::to_string(entry) + " (row " +
                                       std::to_string(row_of_entry(graph, entry)) + ") is " +
                                       printed("%g", double{weights[entry]}) + ": weights are finite and 0 or more");
}

void DatasetChecks::check_times(CsrGraph graph) const {
  const std::span<const std::int64_t> times = graph.entries.times;
  if (times.empty()) return;
  const auto falls_in = [&](std::size_t v) {
    const auto begin = times.begin() + graph.indptr[v], end = times.begin() + graph.indptr[v + 1];
    return std::is_sorted_until(begin, end) - times.begin();
  };
  const std::size_t row =
      first_bad(graph.num_rows(), [&](std::size_t v) { return falls_in(v) != graph.indptr[v + 1]; });
  if (row == kNone) return;
  const auto entry = static_cast<std::size_t>(falls_in(row));
  refuse(kEdgeTimesArray.file, "row " + std::to_string(row) + ": entry " + std::to_string(entry) + " (time " +
                                   std::to_string(times[entry]) + ") is before entry " + std::to_string(entry - 1) +
                                   " (time " + std::to_string(times[entry - 1]) + "), rows ascend by time");
}

void DatasetChecks::check_labels(const LabelTable& labels, int num_classes) const {
  switch (labels.type.task) {
    case Task::kMultiClass: break;
    case Task::kMultiLabel: return check_flags(labels);
    case Task::kRegression: return check_targets(labels);
  }
  const std::span<const std::int32_t> classes = labels.classes;
  const std::size_t node =
      first_bad(classes.size(), [=](std::size_t v) { return classes[v] < -1 || classes[v] >= num_classes; });
  if (node != kNone)
    refuse("labels.npy", "node " + std::to_string(node) + " has label " + std::to_string(classes[node]) +
                             ", labels are below " + std::to_string(num_classes) + ", or -1 for none");
}

void DatasetChecks::check_flags(const LabelTable& labels) const {
  const std::span<const std::int8_t> flags = labels.flags;
  const std::size_t at = first_bad(flags.size(), [=](std::size_t i) { return flags[i] < -1 || flags[i] > 1; });
  if (at == kNone) return;
  const auto width = static_cast<std::size_t>(labels.type.width);
  refuse("labels.npy", "node " + std::to_string(at / width) + ", label " + std::to_string(at % width) + " is " +
                           std::to_string(flags[at]) + ", allowed are 1, 0, and -1 for not known");
}

void DatasetChecks::check_targets(const LabelTable& labels) const {
  const std::span<const float> values = labels.values;
  const std::size_t at = first_bad(values.size(), [=](std::size_t i) { return std::isinf(values[i]); });
  if (at == kNone) return;
  const auto width = static_cast<std::size_t>(labels.type.width);
  refuse("labels.npy", "node " + std::to_string(at / width) + ", target " + std::to_string(at % width) +
                           " is infinite; allowed are numbers, and NaN for not known");
}

void DatasetChecks::check_splits(std::span<const SplitView> splits, const LabelTable& labels) const {
  constexpr std::uint8_t kNoSplit = 0xFF;
  const std::size_t num_nodes = labels.num_nodes();
  const NodeId first = labels.first;
  const std::string rule = first == 0 ? ", the graph has " + std::to_string(num_nodes) + " nodes"
                                      : ", nodes of the target type are " + std::to_string(first) + " to " +
                                            std::to_string(first + num_nodes - 1);
  std::vector<std::uint8_t> split_of(num_nodes, kNoSplit);
  // NOLINTNEXTLINE(bugprone-too-small-loop-variable): there are three splits
  for (std::uint8_t s = 0; s < splits.size(); ++s) {
    for (std::size_t position = 0; position < splits[s].ids.size(); ++position) {
      const NodeId id = splits[s].ids[position];
      const auto refuse_id = [&](const std::string& why) {
        refuse(splits[s].file, "position " + std::to_string(position) + ": node " + std::to_string(id) + why);
      };
      if (id < first || id - first >= num_nodes) refuse_id(rule);
      std::uint8_t& split = split_of[id - first];
      if (split == s) refuse_id(" is here twice");
      if (split != kNoSplit) refuse_id(std::string(" is in ") + splits[split].file + " too");
      if (s == 0 && labels.num_known(id) == 0) refuse_id(" is for training but has no label");
      split = s;
    }
  }
}

void DatasetChecks::check_rows_ascend(CsrGraph graph, bool is_deduplicated) const {
  const std::span<const std::int64_t> times = graph.entries.times;
  const bool is_strict = is_deduplicated && times.empty();
  const auto goes_wrong = [&](std::size_t e) {  // against the entry before it
    const NodeId a = graph.indices[e - 1], b = graph.indices[e];
    return (is_strict ? a >= b : a > b) && (times.empty() || times[e - 1] == times[e]);
  };
  const auto first_wrong_of = [&](std::size_t v) {
    for (auto e = static_cast<std::size_t>(graph.indptr[v]) + 1; e < static_cast<std::size_t>(graph.indptr[v + 1]); ++e)
      if (goes_wrong(e)) return e;
    return kNone;
  };
  const std::size_t node = first_bad(graph.num_rows(), [&](std::size_t v) { return first_wrong_of(v) != kNone; });
  if (node == kNone) return;
  const std::size_t at = first_wrong_of(node);
  refuse("indices.npy", "row " + std::to_string(node) + " has " + std::to_string(graph.indices[at]) + " after " +
                            std::to_string(graph.indices[at - 1]) + ", rows are " + (is_strict ? "strictly " : "") +
                            "ascending" + (times.empty() ? "" : " where times are equal"));
}

void DatasetChecks::check_self_loops(CsrGraph graph, std::uint64_t stored) const {
  const SlotTable* const slots = graph.slots;
  const std::uint64_t found = sum_over(graph.num_rows(), 256, [&](std::size_t v) {
    return times_in_row(graph, v, slots ? slots->node_of_row(slots->type_of_row(v), v) : static_cast<NodeId>(v));
  });
  if (found != stored)
    refuse("dataset.json", "self_loops is " + std::to_string(stored) + ", the graph has " + std::to_string(found));
}

void DatasetChecks::check_reverse_edges(CsrGraph graph, const RowTable& edge_features) const {
  // Equal sums over all edges and over all reversed edges: then they are the same multiset, but for a chance of 2^-64.
  // That takes one pass in order; looking each reverse edge up would take a random access per edge.
  const auto difference_of = [&](auto factor_of) {
    return sum_over(graph.num_nodes(), 256, [&](std::size_t v) {
      std::uint64_t sum = 0;
      for (auto e = static_cast<std::size_t>(graph.indptr[v]); e < static_cast<std::size_t>(graph.indptr[v + 1]); ++e)
        sum += (hash_of_edge(graph.indices[e], v) - hash_of_edge(v, graph.indices[e])) * factor_of(e);
      return sum;
    });
  };
  if (difference_of([](std::size_t) { return 1U; }) != 0) refuse_lone_edge(graph);
  if (graph.entries.num_bytes() > 0 &&
      difference_of([&](std::size_t e) { return hash_of_values(graph.entries, e) | 1; }) != 0)
    refuse(kIndicesArray.file, "an edge and its reverse have different weights or times, though 'symmetric' is true");
  if (edge_features.row_bytes > 0 &&
      difference_of([&](std::size_t e) { return hash_of_row(edge_features, e) | 1; }) != 0)
    refuse(edge_features_array({}).file, "an edge and its reverse have different features, though 'symmetric' is true");
}

void DatasetChecks::refuse_lone_edge(CsrGraph graph) const {
  const auto lacks_reverse = [&](std::size_t v, NodeId u) {
    return times_in_row(graph, u, static_cast<NodeId>(v)) < times_in_row(graph, v, u);
  };
  const std::size_t node = first_bad(graph.num_nodes(), [&](std::size_t v) {
    return std::ranges::any_of(graph.row(v), [&](NodeId u) { return lacks_reverse(v, u); });
  });
  require(node != kNone, "graphs whose hash sums differ have an edge without its reverse");
  const auto row = graph.row(node);
  const NodeId other = *std::ranges::find_if(row, [&](NodeId u) { return lacks_reverse(node, u); });
  refuse("indices.npy", "row " + std::to_string(node) + " has " + std::to_string(other) + ", but row " +
                            std::to_string(other) + " lacks " + std::to_string(node) + ", though 'symmetric' is true");
}

void DatasetChecks::check_values(const SparseRowTable& rows, FeatureType type, const FeatureNames& names) const {
  const auto* halves = reinterpret_cast<const std::uint16_t*>(rows.values);
  const auto* floats = reinterpret_cast<const std::uint32_t*>(rows.values);
  const auto is_bad_half = [=](std::size_t k) { return (halves[k] & 0x7C00) == 0x7C00 || (halves[k] & 0x7FFF) == 0; };
  const auto is_bad_float = [=](std::size_t k) {
    return (floats[k] & 0x7F800000) == 0x7F800000 || (floats[k] & 0x7FFFFFFF) == 0;
  };
  const std::size_t at = type == FeatureType::kF16 ? first_bad(rows.num_values(), is_bad_half)
                                                   : first_bad(rows.num_values(), is_bad_float);
  if (at == kNone) return;
  const auto row = std::ranges::upper_bound(rows.begin, static_cast<std::int64_t>(at)) - rows.begin.begin() - 1;
  refuse(names.values + ".npy",
         "row " + std::to_string(row) + ", column " + std::to_string(rows.columns[at]) + " is 0 or not finite");
}

void DatasetChecks::check_finite(RowTable features, FeatureType type, const FeatureNames& names) const {
  if (features.row_bytes == 0) return;
  const auto* halves = reinterpret_cast<const std::uint16_t*>(features.data);
  const auto* floats = reinterpret_cast<const std::uint32_t*>(features.data);
  const std::size_t row_items = features.row_bytes / size_of(type), count = features.num_rows * row_items;
  const auto is_bad_half = [=](std::size_t i) { return (halves[i] & 0x7C00) == 0x7C00; };
  const auto is_bad_float = [=](std::size_t i) { return (floats[i] & 0x7F800000) == 0x7F800000; };
  const auto is_bad = [=](std::size_t i) {
    if (type == FeatureType::kFp8) return is_fp8_nan(std::to_integer<std::uint8_t>(features.data[i]));
    return type == FeatureType::kF16 ? is_bad_half(i) : is_bad_float(i);
  };
  const std::size_t first = first_bad(count, is_bad);
  if (first == kNone) return;
  const std::uint64_t bad = sum_over(count, kGrain, [=](std::size_t i) { return std::uint64_t{is_bad(i)}; });
  refuse(names.rows + ".npy", std::to_string(bad) + " values are not finite, the first in row " +
                                  std::to_string(first / row_items) + ", column " + std::to_string(first % row_items));
}

}  // namespace salient
