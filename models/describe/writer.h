// models/describe/writer.h - how the lists of layer_list.h are written.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/describe/layer_list.h"

namespace salient {

/// A list while it is written. `x` is an earlier operation, `name` is PyG's.
class Writer {
 public:
  explicit Writer(const ModelOptions& o) {
    list_.num_layers = o.num_layers;
    list_.edge_dim = o.edge_dim;
    list_.time_dim = o.time_encoding;
    if (!o.types.is_typed()) return;
    list_.num_types = static_cast<int>(o.types.node_types.size());
    list_.num_relations = static_cast<int>(o.types.relations.size());
  }

  void begin_layer(int layer) { layer_ = layer; }
  /// Whose rows the operations that follow compute, and over which entries.
  void of(int type, int relation = kEvery) { type_ = type, relation_ = relation; }
  void of_all() { of(kEvery); }
  OpId input(std::int64_t columns) { return add(Input{}, {}, columns, RowSet::kSources); }
  OpId edge_input() { return add(EdgeInput{}, {}, list_.edge_dim, RowSet::kEntries); }
  OpId lookup(Lookup rows, std::int64_t columns) { return add(std::move(rows), {}, columns, RowSet::kSources); }
  OpId aggregate(SumKind kind, OpId x) { return aggregate(Aggregate{.kind = kind}, x); }
  OpId aggregate(Aggregate what, OpId x) { return add(std::move(what), {x}, width(x)); }
  OpId maximum(OpId x) { return add(Maximum{}, {x}, width(x)); }
  OpId attend(Attend attend, std::vector<OpId> inputs, std::int64_t columns) {
    return add(std::move(attend), std::move(inputs), columns);
  }
  OpId project(Project names, OpId x, std::int64_t out, RowSet rows = RowSet::kDestinations) {
    return add(std::move(names), {x}, out, rows);
  }
  OpId linear(const std::string& name, OpId x, std::int64_t out, RowSet rows = RowSet::kDestinations) {
    return project({name + ".weight", name + ".bias"}, x, out, rows);
  }
  OpId normalise(NormKind kind, std::string name, OpId x, RowSet rows = RowSet::kDestinations) {
    return add(Normalise{kind, std::move(name)}, {x}, width(x), rows);
  }
  OpId activate(OpId x, double negative_slope = 0, RowSet rows = RowSet::kDestinations) {
    return add(Activate{negative_slope}, {x}, width(x), rows);
  }
  OpId drop(OpId x, Drop drop, RowSet rows = RowSet::kDestinations) { return add(drop, {x}, width(x), rows); }
  OpId gelu(OpId x) { return add(Gelu{}, {x}, width(x)); }
  OpId mix(std::string gate, OpId a, OpId b) { return add(Mix{std::move(gate)}, {a, b}, width(a)); }
  OpId sum(std::vector<OpId> inputs, RowSet rows = RowSet::kDestinations) {
    const std::int64_t columns = width(inputs.front());
    return add(Combine{CombineKind::kSum}, std::move(inputs), columns, rows);
  }
  OpId largest(std::vector<OpId> inputs) {
    const std::int64_t columns = width(inputs.front());
    return add(Combine{CombineKind::kMax}, std::move(inputs), columns);
  }
  OpId concat(std::vector<OpId> inputs) {
    std::int64_t columns = 0;
    for (const OpId input : inputs) columns += width(input);
    return add(Combine{CombineKind::kConcat}, std::move(inputs), columns);
  }

  std::int64_t width(OpId id) const { return list_.ops[static_cast<std::size_t>(id)].width; }
  LayerList take() { return std::move(list_); }

 private:
  OpId add(What what, std::vector<OpId> inputs, std::int64_t columns, RowSet rows = RowSet::kDestinations) {
    list_.ops.push_back({std::move(what), layer_, std::move(inputs), rows, columns, type_, relation_});
    return static_cast<OpId>(list_.ops.size()) - 1;
  }

  LayerList list_;
  int layer_ = 0, type_ = kEvery, relation_ = kEvery;
};

}  // namespace salient
