// apps/new_node_batch.cpp - see new_node_batch.h.
#include "apps/new_node_batch.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "apps/new_node_places.h"
#include "core/error.h"
#include "core/fp8.h"
#include "engine/plan/graph_types_of.h"
#include "sampler/mfg_types.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/node_degree.h"
#include "sampler/reference_sampler.h"

namespace salient {
namespace {

/// Row `node` of a table, as f32, which holds the values of every type exactly.
void copy_stored_row(const FeatureTable& table, const FeatureShape& shape, NodeId node, float* row) {
  const auto value = [&](const std::byte* at, std::size_t i) {
    if (shape.type == FeatureType::kF32) return reinterpret_cast<const float*>(at)[i];
    if (shape.type == FeatureType::kFp8) return fp8_to_float(std::to_integer<std::uint8_t>(at[i])) * shape.fp8_scale;
    return half_to_float(reinterpret_cast<const std::uint16_t*>(at)[i]);
  };
  if (shape.is_sparse()) {
    const SparseRowTable& sparse = table.sparse;
    for (auto k = static_cast<std::size_t>(sparse.begin[node]); k < static_cast<std::size_t>(sparse.begin[node + 1]);
         ++k)
      row[sparse.columns[k]] = value(sparse.values, k);
    return;
  }
  const std::byte* const stored = table.rows.data + std::size_t{node} * table.rows.row_bytes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.dim); ++i) row[i] = value(stored, i);
}

NodeDegree degree_of(std::span<const NodeId> row, NodeId node) {
  return {static_cast<LocalId>(row.size()), static_cast<LocalId>(std::ranges::count(row, node))};
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

/// Counts the edges that rows give, and refuses more than there may be.
class EdgeLimit {
 public:
  EdgeLimit(Draw draw, std::int64_t most) : draw_(draw), most_(most) {}

  void count(std::size_t degree, int fanout) {
    num_edges_ += num_drawn(degree, fanout, draw_);
    if (most_ > 0 && num_edges_ > most_)
      fail(ErrorKind::kUsage,
           "new nodes: their neighbourhoods have more than " + std::to_string(most_) +
               " edges; ask for fewer nodes at a time, or with fewer neighbours",
           Topic::kBatch);
  }

 private:
  Draw draw_;
  std::int64_t most_, num_edges_ = 0;
};

}  // namespace

void require_plain_edges(const ModelOptions& model, const Dataset& dataset) {
  if (entry_parts_for(model, dataset).features)
    fail(ErrorKind::kUsage,
         "the run's model reads features of edges, and new nodes have edges without any; --edge-features none trains "
         "one that does not");
  if (is_by_weight(model))
    fail(ErrorKind::kUsage,
         "the run's model reads the weights of edges, and new nodes have edges without any; --aggregate plain trains "
         "one that does not");
}

NewNodeBatch::NewNodeBatch(const Dataset& dataset, std::span<const NewNodes> lists, const Sampling& sampling) {
  const std::size_t num_known = dataset.num_nodes();
  for (const NewNodes& list : lists) check_new_nodes(list, dataset);
  const NewNodes nodes = joined(lists, num_known);
  const std::vector<NodeId> ids = own_ids(lists, num_known);
  check_new_nodes(nodes, dataset);
  std::vector<NodeId> seeds;
  for (std::size_t i = 0; i < nodes.num_predicted(); ++i)
    seeds.push_back(static_cast<NodeId>(num_known + nodes.predicted_place(i)));
  sample(dataset, nodes, seeds, sampling, [&](NodeId node) { return node < num_known ? node : ids[node - num_known]; });
  gather(dataset, nodes, sampling.degrees);
}

NewNodeBatch::NewNodeBatch(const Dataset& dataset, const NewNodes& list, std::span<const NodeId> seeds,
                           const Sampling& sampling) {
  check_new_nodes(list, dataset);
  std::vector<NodeId> nodes;
  for (const NodeId seed : seeds) nodes.push_back(static_cast<NodeId>(dataset.num_nodes() + seed));
  sample(dataset, list, nodes, sampling, {});
  gather(dataset, list, sampling.degrees);
}

void NewNodeBatch::sample(const Dataset& dataset, const NewNodes& nodes, std::span<const NodeId> seeds,
                          const Sampling& sampling, const DrawnAs& drawn_as) {
  if (dataset.types.is_typed()) return sample_slots(dataset, nodes, seeds, sampling, drawn_as);
  const std::size_t num_known = dataset.num_nodes();
  std::size_t num_hops = 0;
  EdgeLimit limit(sampling.rule.draw, sampling.max_edges);
  const auto counted_row_of = [&](NodeId node) {
    if (node == seeds.front()) ++num_hops;  // with which each hop begins
    const std::span<const NodeId> row =
        node < num_known ? dataset.graph.row(node) : nodes.row(static_cast<std::size_t>(node) - num_known);
    limit.count(row.size(), sampling.rule.fanouts[num_hops - 1]);
    return row;
  };
  mfg_ = reference_sample(counted_row_of, sampling.rule, seeds, sampling.key, drawn_as, [&](NodeId node) {
    return node < num_known ? dataset.graph.weights_of(node) : std::span<const float>();
  });
}

void NewNodeBatch::sample_slots(const Dataset& dataset, const NewNodes& nodes, std::span<const NodeId> seeds,
                                const Sampling& sampling, const DrawnAs& drawn_as) {
  const std::size_t num_known = dataset.num_nodes();
  const SlotTable& slots = *dataset.slots;
  const NewNodePlaces places = places_of(nodes, dataset);
  EdgeLimit limit(sampling.rule.draw, sampling.max_edges);
  const auto row_of = [&](NodeId node, std::size_t type, std::uint32_t slot, std::uint32_t hop) {
    const std::span<const NodeId> row = node < num_known ? dataset.graph.row(slots.row_of(type, node, slot))
                                                         : nodes.row(places.row[node - num_known] + slot);
    limit.count(row.size(), sampling.rule.fanout_of(slots.relation_of(type, slot), hop));
    return row;
  };
  const auto type_of = [&](NodeId node) {
    return node < num_known ? slots.type_of(node) : std::size_t{nodes.types[node - num_known]};
  };
  const auto weights_of = [&](NodeId node, std::size_t type, std::uint32_t slot) {
    return node < num_known ? dataset.graph.weights_of(slots.row_of(type, node, slot)) : std::span<const float>();
  };
  mfg_ = reference_sample({.slots = slots, .type_of = type_of, .row_of = row_of, .weights_of = weights_of},
                          sampling.rule, seeds, sampling.key, drawn_as);
  std::vector<std::uint8_t> types;
  for (const NodeId node : mfg_.nodes) types.push_back(static_cast<std::uint8_t>(type_of(node)));
  MfgTypes counted;
  set_shape(mfg_, typed_.shape);
  counted.count(mfg_, slots, std::move(types), typed_.shape);
  std::vector<TypedHopMemory> memory;
  typed_.hops.resize(mfg_.hops.size());
  for (std::size_t h = 0; h < mfg_.hops.size(); ++h) {
    const TypedHopShape& shape = typed_.shape.typed_hops[h];
    typed_.hops[h].row_dst.resize(static_cast<std::size_t>(shape.num_rows));
    typed_.hops[h].relation_rows.resize(static_cast<std::size_t>(shape.relation_begin.back()));
    memory.push_back(
        {mfg_.hops[h].row_begin.data(), typed_.hops[h].row_dst.data(), typed_.hops[h].relation_rows.data()});
  }
  typed_.types.resize(slots.num_types());
  std::vector<LocalId*> of_type;
  for (std::size_t t = 0; t < slots.num_types(); ++t) {
    typed_.types[t].nodes.resize(static_cast<std::size_t>(typed_.shape.num_nodes_of_type[t]));
    of_type.push_back(typed_.types[t].nodes.data());
  }
  counted.copy_to(mfg_, typed_.shape, memory, of_type);
}

/// Features of each type; of types without any none.
void NewNodeBatch::gather_types(const Dataset& dataset, const NewNodes& nodes) {
  const std::size_t num_known = dataset.num_nodes();
  const NewNodePlaces places = places_of(nodes, dataset);
  for (std::size_t t = 0; t < typed_.types.size(); ++t) {
    TypedParts::Type& type = typed_.types[t];
    const FeatureShape& shape = dataset.types.node_types[t].features;
    const auto first = static_cast<NodeId>(dataset.slots->node_begin[t]);
    const auto width = static_cast<std::size_t>(shape.dim);
    if (width > 0) type.x = at::zeros({std::ssize(type.nodes), shape.dim}, at::kFloat);
    float* row = width > 0 ? type.x.mutable_data_ptr<float>() : nullptr;
    for (const LocalId number : type.nodes) {
      const NodeId node = mfg_.nodes[static_cast<std::size_t>(number)];
      type.has_unknown = type.has_unknown || node >= num_known;
      if (width == 0) continue;
      if (node < num_known)
        copy_stored_row(dataset.type_features[t], shape, node - first, row);
      else
        std::copy_n(nodes.features.data() + places.feature[node - num_known], width, row);
      row += width;
    }
  }
}

void NewNodeBatch::gather(const Dataset& dataset, const NewNodes& nodes, Degrees degrees) {
  if (dataset.types.is_typed()) return gather_types(dataset, nodes);
  const std::size_t num_known = dataset.num_nodes(), width = static_cast<std::size_t>(dataset.feature_dim);
  const FeatureTable table{dataset.features, dataset.sparse_features};
  const FeatureShape shape{dataset.feature_dim, dataset.feature_type, dataset.feature_layout, dataset.fp8_scale};
  const auto num_rows = static_cast<std::int64_t>(mfg_.nodes.size());
  x_ = at::zeros({num_rows, dataset.feature_dim}, at::kFloat);
  float* row = x_.mutable_data_ptr<float>();
  for (const NodeId node : mfg_.nodes) {
    if (node < num_known)
      copy_stored_row(table, shape, node, row);
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

namespace {

/// 32-bit numbers as int32. Borrows them where they are to be on the host.
template <class Values>
at::Tensor as_tensor(const Values& values, c10::Device device) {
  auto* const data = const_cast<std::int32_t*>(reinterpret_cast<const std::int32_t*>(values.data()));
  return at::from_blob(data, {std::ssize(values)}, at::TensorOptions(at::kInt)).to(device);
}

std::vector<std::int64_t> counts(const std::vector<LocalId>& of) { return {of.begin(), of.end()}; }

}  // namespace

void NewNodeBatch::add_types(BatchView& view, c10::Device device) const {
  std::vector<at::Tensor> nodes_of_type;
  for (const TypedParts::Type& type : typed_.types) {
    nodes_of_type.push_back(as_tensor(type.nodes, device));
    view.types.push_back({.rows = nodes_of_type.back(),
                          .x = type.x.defined() ? InputRows(type.x.to(device)) : InputRows(),
                          .has_unknown = type.has_unknown});
  }
  for (std::size_t h = 0; h < view.hops.size(); ++h) {
    const TypedHopShape& shape = typed_.shape.typed_hops[h];
    view.hops[h].typed = TypedHop{.row_begin = as_tensor(mfg_.hops[h].row_begin, device),
                                  .row_dst = as_tensor(typed_.hops[h].row_dst, device),
                                  .relation_rows = as_tensor(typed_.hops[h].relation_rows, device),
                                  .relation_begin = counts(shape.relation_begin),
                                  .nodes_of_type = nodes_of_type,
                                  .num_src_of_type = counts(shape.num_src_of_type),
                                  .num_dst_of_type = counts(shape.num_dst_of_type)};
  }
}

BatchView NewNodeBatch::view(c10::Device device) const {
  BatchView view{.x = x_.defined() ? InputRows(x_.to(device)) : InputRows(),
                 .y = {},
                 .nodes = as_tensor(mfg_.nodes, device),
                 .hops = {}};
  const at::Tensor degrees = degrees_.defined() ? degrees_.to(device) : degrees_;
  for (const MfgHop& hop : mfg_.hops)
    view.hops.push_back({.num_dst = hop.num_dst,
                         .num_src = hop.num_src,
                         .indptr = as_tensor(hop.indptr, device),
                         .indices = as_tensor(hop.indices, device),
                         .degrees = degrees.defined() ? degrees.narrow(0, 0, hop.num_src) : degrees});
  if (!typed_.types.empty()) add_types(view, device);
  return view;
}

}  // namespace salient
