// prepare/writing/valued_rows.cpp - build_csr() of edges that have weights, times or features.
//
// Rows of edge numbers are scattered, then each row's edges are sorted and merged in its thread's memory, and written
// where the row is; at the end rows move together.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "core/console/progress.h"
#include "core/error.h"
#include "core/host/interrupt.h"
#include "prepare/writing/csr_builder.h"
#include "prepare/writing/scatter_rows.h"

namespace salient {
namespace {

using Range = oneapi::tbb::blocked_range<std::size_t>;
constexpr std::size_t kGrainEdges = std::size_t{1} << 16, kGrainRows = 1024;

struct Entry {
  NodeId neighbor;
  std::uint32_t edge;
  float weight;
  std::int64_t time;
};

bool is_before(const Entry& a, const Entry& b) { return std::tie(a.neighbor, a.edge) < std::tie(b.neighbor, b.edge); }
bool is_earlier(const Entry& a, const Entry& b) {
  return std::tie(a.time, a.neighbor, a.edge) < std::tie(b.time, b.neighbor, b.edge);
}

class ValuedRows {
 public:
  ValuedRows(std::uint64_t num_nodes, const std::vector<NodeId>& sources, const std::vector<NodeId>& destinations,
             const EdgeValues& values)
      : num_nodes_(num_nodes), sources_(sources), destinations_(destinations), values_(values) {}

  CsrArrays build(EdgeDirections directions, Repeats repeats) {
    UnsetHugeVector<NodeId> filled;
    CsrArrays graph = scatter_rows(static_cast<std::size_t>(num_nodes_), filled, [&](auto use) {
      oneapi::tbb::parallel_for(Range(0, sources_.size(), kGrainEdges), [&](const Range& range) {
        stop_if_interrupted();
        for (std::size_t m = range.begin(); m < range.end(); ++m) {
          use(destinations_[m], static_cast<NodeId>(m));
          if (directions == EdgeDirections::kBoth && sources_[m] != destinations_[m])
            use(sources_[m], static_cast<NodeId>(m));
        }
      });
    });
    if (!values_.weights.empty()) graph.weights.resize(graph.indices.size());
    if (!values_.times.empty()) graph.times.resize(graph.indices.size());
    if (values_.features.dim > 0) graph.edges.resize(graph.indices.size());
    std::atomic<std::uint64_t> self_loops = 0, duplicates = 0;
    oneapi::tbb::enumerable_thread_specific<std::vector<Entry>> rows;
    Progress progress("sorting rows", graph.indices.size(), "entries");
    oneapi::tbb::parallel_for(Range(0, filled.size(), kGrainRows), [&](const Range& range) {
      std::vector<Entry>& row = rows.local();
      for (std::size_t v = range.begin(); v < range.end(); ++v) {
        read_row(graph, v, filled[v], row);
        merge_repeats(v, repeats, row);
        duplicates += filled[v] - row.size();
        self_loops += static_cast<std::uint64_t>(
            std::ranges::count(row, static_cast<NodeId>(v), [](const Entry& entry) { return entry.neighbor; }));
        progress.add(filled[v]);
        filled[v] = static_cast<NodeId>(row.size());
        write_row(row, graph, v);
      }
    });
    graph.self_loops = self_loops;
    graph.duplicates = duplicates;
    close_gaps(filled, graph);
    return graph;
  }

 private:
  void read_row(const CsrArrays& graph, std::size_t v, std::size_t count, std::vector<Entry>& row) const {
    row.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const NodeId m = graph.indices[static_cast<std::size_t>(graph.indptr[v]) + i];
      row.push_back({.neighbor = destinations_[m] == v ? sources_[m] : destinations_[m],
                     .edge = m,
                     .weight = values_.weights.empty() ? 0.F : values_.weights[m],
                     .time = values_.times.empty() ? 0 : values_.times[m]});
    }
    std::ranges::sort(row, is_before);
  }

  /// On return the row is in the order of the graph.
  void merge_repeats(std::size_t v, Repeats repeats, std::vector<Entry>& row) const {
    std::size_t size = 0;
    for (const Entry& entry : row) {
      const bool is_repeated = size > 0 && row[size - 1].neighbor == entry.neighbor && repeats != Repeats::kKeep;
      if (is_repeated && repeats == Repeats::kRefuse) refuse_repeat(v, entry);
      if (is_repeated && repeats == Repeats::kSum) row[size - 1].weight += entry.weight;
      if (!is_repeated) row[size++] = entry;
    }
    row.resize(size);
    for (const Entry& entry : row)
      if (!std::isfinite(entry.weight))
        fail(ErrorKind::kBadData, "the weights of the edges " + ends_of(entry) + " have a sum that no float holds");
    if (!values_.times.empty()) std::ranges::sort(row, is_earlier);
  }

  std::string ends_of(const Entry& entry) const {
    return "from node " + std::to_string(sources_[entry.edge]) + " to node " +
           std::to_string(destinations_[entry.edge]);
  }

  [[noreturn]] void refuse_repeat(std::size_t v, const Entry& entry) const {
    fail(ErrorKind::kBadData, "the edge " + ends_of(entry) + ", number " + std::to_string(entry.edge) +
                                  " from 0, repeats an entry of row " + std::to_string(v));
  }

  static void write_row(const std::vector<Entry>& row, CsrArrays& graph, std::size_t v) {
    const auto begin = static_cast<std::size_t>(graph.indptr[v]);
    for (std::size_t i = 0; i < row.size(); ++i) {
      graph.indices[begin + i] = row[i].neighbor;
      if (!graph.weights.empty()) graph.weights[begin + i] = row[i].weight;
      if (!graph.times.empty()) graph.times[begin + i] = row[i].time;
      if (!graph.edges.empty()) graph.edges[begin + i] = row[i].edge;
    }
  }

  static void close_gaps(const UnsetHugeVector<NodeId>& filled, CsrArrays& graph) {
    const auto move_row = [](auto& items, EdgeOffset from, NodeId count, EdgeOffset to) {
      if (!items.empty() && from != to) std::copy_n(items.begin() + from, count, items.begin() + to);
    };
    EdgeOffset out = 0;
    for (std::size_t v = 0; v < filled.size(); ++v) {
      const EdgeOffset from = std::exchange(graph.indptr[v], out);
      move_row(graph.indices, from, filled[v], out);
      move_row(graph.weights, from, filled[v], out);
      move_row(graph.times, from, filled[v], out);
      move_row(graph.edges, from, filled[v], out);
      out += filled[v];
    }
    graph.indptr.back() = out;
    const auto cut = [&](auto& items) { items.resize(std::min(items.size(), static_cast<std::size_t>(out))); };
    cut(graph.indices);
    cut(graph.weights);
    cut(graph.times);
    cut(graph.edges);
  }

  const std::uint64_t num_nodes_;
  const std::vector<NodeId>& sources_;
  const std::vector<NodeId>& destinations_;
  const EdgeValues& values_;
};

}  // namespace

CsrArrays build_csr(std::uint64_t num_nodes, std::vector<NodeId> sources, std::vector<NodeId> destinations,
                    EdgeDirections directions, const EdgeValues& values, Repeats repeats) {
  const auto fits = [&](const auto& items) { return items.empty() || items.size() == sources.size(); };
  require(sources.size() == destinations.size(), "an edge has two ends");
  require(fits(values.weights) && fits(values.times), "every edge has a weight and a time, or none has");
  const RawFeatures& features = values.features;
  require(features.dim == 0 || features.num_rows() == sources.size(), "every edge has features, or none has");
  if (values.weights.empty() && values.times.empty() && features.dim == 0 && repeats == Repeats::kFirst)
    return build_csr(num_nodes, std::move(sources), std::move(destinations), directions);
  if (sources.size() >= std::numeric_limits<std::uint32_t>::max())
    fail(ErrorKind::kUsage, "2^32 - 1 edges or more, of which none can have a weight, a time or features");
  return ValuedRows(num_nodes, sources, destinations, values).build(directions, repeats);
}

std::vector<std::byte> edge_rows_of(const RawFeatures& features, const CsrArrays& graph, const MemoryLimit& memory) {
  const std::size_t row_bytes = static_cast<std::size_t>(features.dim) * size_of(features.type);
  memory.check(graph.edges.size() * row_bytes, "features of edges");
  std::vector<std::byte> rows(graph.edges.size() * row_bytes);
  oneapi::tbb::parallel_for(Range(0, graph.edges.size(), kGrainEdges), [&](const Range& range) {
    for (std::size_t e = range.begin(); e < range.end(); ++e)
      std::copy_n(features.rows.data() + graph.edges[e] * row_bytes, row_bytes, rows.data() + e * row_bytes);
  });
  return rows;
}

}  // namespace salient
