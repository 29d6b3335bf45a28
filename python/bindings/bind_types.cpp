// python/bindings/bind_types.cpp - node types and relations of typed graphs, and the parts of their batches.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "python/bindings/batch_stream.h"
#include "python/bindings/bindings.h"
#include "python/bindings/python_lock.h"

namespace salient::python {
namespace {

/// What owns the data set that it was made of, and the labels of nodes that have none.
struct TypeView {
  std::shared_ptr<const Dataset> source;
  std::vector<std::int32_t> labels;
};

/// The data set as it would be if the type were its target: whose features and ids are asked for, and whose nodes may
/// be seeds. A type that is not the target has no split, and its nodes no labels: they are -1.
/// @param has_seeds  false: nor has it -1, 4 bytes a node
std::shared_ptr<OpenDataset> view_of_type(const OpenDataset& dataset, int type, bool has_seeds) {
  if (type == dataset.data->types.target_type) return std::make_shared<OpenDataset>(dataset);
  const LockReleased others_run;
  const auto t = static_cast<std::size_t>(type);
  const NodeType& node_type = dataset.data->types.node_types.at(t);
  const auto owner = std::make_shared<TypeView>(TypeView{dataset.data, {}});
  if (has_seeds) owner->labels.assign(static_cast<std::size_t>(node_type.count), -1);
  auto view = std::make_shared<Dataset>(*dataset.data);
  view->types.target_type = type;
  view->set_feature_shape(node_type.features);
  view->features = view->type_features[t].rows;
  view->sparse_features = view->type_features[t].sparse;
  view->task = Task::kMultiClass;
  view->labels = owner->labels;
  view->multi_labels = {};
  view->targets = {};
  view->train = view->valid = view->test = {};
  view->storage = owner;
  return std::make_shared<OpenDataset>(OpenDataset{std::move(view)});
}

/// One hop of a typed batch.
struct TypedHop {
  HopLayout plain;
  TypedHopLayout typed;
  std::vector<NewRows> new_rows;
};

void bind_hop(nb::module_& module) {
  nb::class_<TypedHop> hop(module, "TypedHop");
  const auto field = [&](const char* name, auto read) { hop.def_prop_ro(name, read); };
  field("indptr", [](const TypedHop& self) { return self.plain.indptr; });
  field("indices", [](const TypedHop& self) { return self.plain.indices; });
  field("num_edges", [](const TypedHop& self) { return self.plain.num_edges; });
  field("num_rows", [](const TypedHop& self) { return self.typed.shape.num_rows; });
  field("row_dst", [](const TypedHop& self) { return self.typed.row_dst; });
  field("relation_rows", [](const TypedHop& self) { return self.typed.relation_rows; });
  field("num_dst_of_type", [](const TypedHop& self) { return self.typed.shape.num_dst_of_type; });
  field("num_src_of_type", [](const TypedHop& self) { return self.typed.shape.num_src_of_type; });
  field("new_rows", [](const TypedHop& self) {
    nb::list rows;
    for (const NewRows& of : self.new_rows) rows.append(nb::make_tuple(of.begin, of.end, of.num_edges));
    return rows;
  });
}

}  // namespace

void bind_types(nb::class_<OpenDataset>& dataset) {
  dataset.def_prop_ro("node_types", [](const OpenDataset& self) {
    nb::list types;
    for (const NodeType& type : self.data->types.node_types) types.append(nb::make_tuple(type.name, type.count));
    return types;
  });
  dataset.def_prop_ro("relations", [](const OpenDataset& self) {
    nb::list relations;
    for (const Relation& of : self.data->types.relations)
      relations.append(nb::make_tuple(of.src, of.name, of.dst, of.slot, of.num_entries));
    return relations;
  });
  dataset.def_prop_ro("target_type", [](const OpenDataset& self) { return self.data->types.target_type; });
  dataset.def_prop_ro("first_target", [](const OpenDataset& self) { return self.data->first_target(); });
}

void bind_typed_parts(nb::class_<StreamedBatch>& batch) {
  batch.def_prop_ro("types", [](const StreamedBatch& self) {
    nb::list types;
    for (const TypeLayout& of : self.batch.layout.types)
      types.append(nb::make_tuple(of.num_nodes, of.nodes, of.x, of.x_begin, of.x_columns, of.num_values));
    return types;
  });
  batch.def_prop_ro("typed_hops", [](const StreamedBatch& self) {
    std::vector<TypedHop> hops;
    for (std::size_t h = 0; h < self.batch.layout.typed_hops.size(); ++h)
      hops.push_back({self.batch.layout.hops[h], self.batch.layout.typed_hops[h], self.new_rows[h]});
    return hops;
  });
}

void bind_type_views(nb::module_& module) {
  bind_hop(module);
  module.def("view_of_type", &view_of_type, nb::arg("dataset"), nb::arg("type"), nb::arg("has_seeds"));
}

}  // namespace salient::python
