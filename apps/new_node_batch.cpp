// apps/new_node_batch.cpp - see new_node_batch.h.
#include "apps/new_node_batch.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "core/fp8.h"
#include "engine/plan/graph_types_of.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/node_degree.h"
#include "sampler/reference_sampler.h"

namespace salient {
namespace {

void check(const Dataset& dataset, const NewNodes& nodes) {
  const std::uint64_t end = dataset.num_nodes() + nodes.num_nodes();
  if (end > std::uint64_t{1} << 32) fail(ErrorKind::kUsage, "new nodes: more than 2^32 nodes in all");
  if (nodes.features.size() != nodes.num_nodes() * static_cast<std::size_t>(dataset.feature_dim))
    fail(ErrorKind::kUsage, "new nodes: each has " + std::to_string(dataset.feature_dim) + " features");
  if (!std::ranges::is_sorted(nodes.indptr) || nodes.indptr.front() != 0 ||
      nodes.indptr.back() != std::ssize(nodes.indices) ||
      std::ranges::any_of(nodes.indices, [&](NodeId node) { return node >= end; }))
    fail(ErrorKind::kUsage, "new nodes: a row is no list of nodes below " + std::to_string(end));
}

/// As f32, which holds the values of every type exactly.
void copy_known_row(const Dataset& dataset, NodeId node, float* row) {
  const auto value = [&](const std::byte* at, std::size_t i) {
    if (dataset.feature_type == FeatureType::kF32) return reinterpret_cast<const float*>(at)[i];
    if (dataset.feature_type == FeatureType::kFp8)
      return fp8_to_float(std::to_integer<std::uint8_t>(at[i])) * dataset.fp8_scale;
    return half_to_float(reinterpret_cast<const std::uint16_t*>(at)[i]);
  };
  if (dataset.has_sparse_features()) {
    const SparseRowTable& table = dataset.sparse_features;
    for (auto k = static_cast<std::size_t>(table.begin[node]); k < static_cast<std::size_t>(table.begin[node + 1]); ++k)
      row[table.columns[k]] = value(table.values, k);
    return;
  }
  const std::byte* const stored = dataset.features.data + std::size_t{node} * dataset.features.row_bytes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(dataset.feature_dim); ++i) row[i] = value(stored, i);
}

NodeDegree degree_of(std::span<const NodeId> row, NodeId node) {
  return {static_cast<LocalId>(row.size()), static_cast<LocalId>(std::ranges::count(row, node))};
}

/// The lists one behind the other, as one.
NewNodes joined(std::span<const NewNodes> lists, std::size_t num_known) {
  NewNodes all;
  for (const NewNodes& list : lists) {
    const std::size_t before = all.num_nodes(), edges_before = all.indices.size();
    all.features.insert(all.features.end(), list.features.begin(), list.features.end());
    for (const NodeId node : list.indices)
      all.indices.push_back(node < num_known ? node : static_cast<NodeId>(node + before));
    for (std::size_t i = 1; i < list.indptr.size(); ++i)
      all.indptr.push_back(list.indptr[i] + static_cast<std::int64_t>(edges_before));
  }
  return all;
}

/// Of each new node of joined lists its id in its own list.
std::vector<NodeId> own_ids(std::span<const NewNodes> lists, std::size_t num_known) {
  std::vector<NodeId> ids;
  for (const NewNodes& list : lists)
    for (std::size_t i = 0; i < list.num_nodes(); ++i) ids.push_back(static_cast<NodeId>(num_known + i));
  return ids;
}

/// The edges that a row gives to a hop.
std::int64_t num_drawn(std::size_t degree, int fanout, Draw draw) {
  const auto all = static_cast<std::int64_t>(degree);
  if (fanout == kAllNeighbors || degree == 0) return all;
  return keeps_fanout_of_any_row(fanout, draw) ? fanout : std::min<std::int64_t>(all, fanout);
}

}  // namespace

void require_plain_edges(const ModelOptions& model, const Dataset& dataset) {
  if (entry_parts_for(model, dataset).features)
    fail(ErrorKind::kUsage,
         "the run's model reads features of edges, and new nodes have edges without any; --edge-features none trains "
         "one that does not");
}

NewNodeBatch::NewNodeBatch(const Dataset& dataset, std::span<const NewNodes> lists, const Sampling& sampling) {
  const std::size_t num_known = dataset.num_nodes();
  for (const NewNodes& list : lists) check(dataset, list);
  const NewNodes nodes = joined(lists, num_known);
  const std::vector<NodeId> ids = own_ids(lists, num_known);
  check(dataset, nodes);
  std::vector<NodeId> seeds(nodes.num_nodes());
  std::iota(seeds.begin(), seeds.end(), static_cast<NodeId>(num_known));
  sample(dataset, nodes, seeds, sampling, [&](NodeId node) { return node < num_known ? node : ids[node - num_known]; });
  gather(dataset, nodes, sampling.degrees);
}

NewNodeBatch::NewNodeBatch(const Dataset& dataset, const NewNodes& list, std::span<const NodeId> seeds,
                           const Sampling& sampling) {
  check(dataset, list);
  std::vector<NodeId> nodes;
  for (const NodeId seed : seeds) nodes.push_back(static_cast<NodeId>(dataset.num_nodes() + seed));
  sample(dataset, list, nodes, sampling, {});
  gather(dataset, list, sampling.degrees);
}

void NewNodeBatch::sample(const Dataset& dataset, const NewNodes& nodes, std::span<const NodeId> seeds,
                          const Sampling& sampling, const DrawnAs& drawn_as) {
  const std::size_t num_known = dataset.num_nodes();
  std::size_t num_hops = 0;
  std::int64_t num_edges = 0;
  const auto counted_row_of = [&](NodeId node) {
    if (node == seeds.front()) ++num_hops;  // with which each hop begins
    const std::span<const NodeId> row =
        node < num_known ? dataset.graph.row(node) : nodes.row(static_cast<std::size_t>(node) - num_known);
    num_edges += num_drawn(row.size(), sampling.rule.fanouts[num_hops - 1], sampling.rule.draw);
    if (sampling.max_edges > 0 && num_edges > sampling.max_edges)
      fail(ErrorKind::kUsage,
           "new nodes: their neighbourhoods have more than " + std::to_string(sampling.max_edges) +
               " edges; ask for fewer nodes at a time, or with fewer neighbours",
           Topic::kBatch);
    return row;
  };
  mfg_ = reference_sample(counted_row_of, sampling.rule, seeds, sampling.key, drawn_as, [&](NodeId node) {
    return node < num_known ? dataset.graph.weights_of(node) : std::span<const float>();
  });
}

void NewNodeBatch::gather(const Dataset& dataset, const NewNodes& nodes, Degrees degrees) {
  const std::size_t num_known = dataset.num_nodes(), width = static_cast<std::size_t>(dataset.feature_dim);
  const auto num_rows = static_cast<std::int64_t>(mfg_.nodes.size());
  x_ = at::zeros({num_rows, dataset.feature_dim}, at::kFloat);
  float* row = x_.mutable_data_ptr<float>();
  for (const NodeId node : mfg_.nodes) {
    if (node < num_known)
      copy_known_row(dataset, node, row);
    else
      std::copy_n(nodes.features.data() + (node - num_known) * width, width, row);
    row += width;
  }
  if (degrees == Degrees::kOfNoNode) return;
  degrees_ = at::empty({num_rows, 2}, at::kInt);
  auto* const counts = reinterpret_cast<NodeDegree*>(degrees_.mutable_data_ptr<std::int32_t>());
  for (std::size_t i = 0; i < mfg_.nodes.size(); ++i) {
    const NodeId node = mfg_.nodes[i];
    if (node < num_known)
      read_degrees(dataset.graph, {&mfg_.nodes[i], 1}, counts + i);
    else
      counts[i] = degree_of(nodes.row(node - num_known), node);
  }
}

BatchView NewNodeBatch::view(c10::Device device) const {
  const auto borrowed = [&](const auto& values) {
    auto* const data = const_cast<std::int32_t*>(reinterpret_cast<const std::int32_t*>(values.data()));
    return at::from_blob(data, {std::ssize(values)}, at::TensorOptions(at::kInt)).to(device);
  };
  BatchView view{.x = x_.to(device), .y = {}, .nodes = borrowed(mfg_.nodes), .hops = {}};
  const at::Tensor degrees = degrees_.defined() ? degrees_.to(device) : degrees_;
  for (const MfgHop& hop : mfg_.hops)
    view.hops.push_back({.num_dst = hop.num_dst,
                         .num_src = hop.num_src,
                         .indptr = borrowed(hop.indptr),
                         .indices = borrowed(hop.indices),
                         .degrees = degrees.defined() ? degrees.narrow(0, 0, hop.num_src) : degrees});
  return view;
}

}  // namespace salient
