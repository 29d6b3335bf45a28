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
#include "core/half.h"
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

/// As f32: f16 holds its values exactly.
void copy_known_row(const Dataset& dataset, NodeId node, float* row) {
  const auto value = [&](const std::byte* at, std::size_t i) {
    if (dataset.feature_type == FeatureType::kF32) return reinterpret_cast<const float*>(at)[i];
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

}  // namespace

NewNodeBatch::NewNodeBatch(const Dataset& dataset, const NewNodes& nodes, std::span<const int> fanouts,
                           Replacement replacement, BatchKey key) {
  check(dataset, nodes);
  const std::size_t num_known = dataset.num_nodes(), width = static_cast<std::size_t>(dataset.feature_dim);
  const auto row_of = [&](NodeId node) {
    return node < num_known ? dataset.graph.row(node) : nodes.row(node - num_known);
  };
  std::vector<NodeId> seeds(nodes.num_nodes());
  std::iota(seeds.begin(), seeds.end(), static_cast<NodeId>(num_known));
  mfg_ = reference_sample(row_of, fanouts, seeds, key, replacement);

  const auto num_rows = static_cast<std::int64_t>(mfg_.nodes.size());
  x_ = at::zeros({num_rows, dataset.feature_dim}, at::kFloat);
  degrees_ = at::empty({num_rows, 2}, at::kInt);
  auto* const degrees = reinterpret_cast<NodeDegree*>(degrees_.mutable_data_ptr<std::int32_t>());
  float* const x = x_.mutable_data_ptr<float>();
  for (std::size_t i = 0; i < mfg_.nodes.size(); ++i) {
    const NodeId node = mfg_.nodes[i];
    degrees[i] = degree_of(row_of(node), node);
    if (node < num_known)
      copy_known_row(dataset, node, x + i * width);
    else
      std::memcpy(x + i * width, nodes.features.data() + (node - num_known) * width, width * sizeof(float));
  }
}

BatchView NewNodeBatch::view(c10::Device device) const {
  const auto borrowed = [&](const auto& values) {
    auto* const data = const_cast<std::int32_t*>(reinterpret_cast<const std::int32_t*>(values.data()));
    return at::from_blob(data, {std::ssize(values)}, at::TensorOptions(at::kInt)).to(device);
  };
  BatchView view{.x = x_.to(device), .y = {}, .nodes = borrowed(mfg_.nodes), .hops = {}};
  const at::Tensor degrees = degrees_.to(device);
  for (const MfgHop& hop : mfg_.hops)
    view.hops.push_back({.num_dst = hop.num_dst,
                         .num_src = hop.num_src,
                         .indptr = borrowed(hop.indptr),
                         .indices = borrowed(hop.indices),
                         .degrees = degrees.narrow(0, 0, hop.num_src)});
  return view;
}

}  // namespace salient
