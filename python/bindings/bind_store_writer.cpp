// python/bindings/bind_store_writer.cpp - arrays of a Python program become a store.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "core/error.h"
#include "prepare/importers/raw_graph.h"
#include "prepare/importers/sparse_npz.h"
#include "prepare/importers/typed_graph.h"
#include "prepare/importers/typed_schema.h"
#include "prepare/writing/write_store.h"
#include "prepare/writing/write_typed_store.h"
#include "python/bindings/bindings.h"
#include "python/bindings/python_lock.h"
#include "store/store_manifest.h"

namespace salient::python {
namespace {

using Ids = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T, std::size_t kDims>
using Array = nb::ndarray<const T, nb::ndim<kDims>, nb::c_contig, nb::device::cpu>;

std::vector<NodeId> checked_ids(const Ids& ids, std::uint64_t num_nodes, const char* what) {
  std::vector<NodeId> checked(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::int64_t id = ids.data()[i];
    if (id < 0 || static_cast<std::uint64_t>(id) >= num_nodes)
      fail(ErrorKind::kBadData,
           std::string(what) + ": item " + std::to_string(i) + " is node " + std::to_string(id) +
               (num_nodes > 0 ? "; nodes are 0 to " + std::to_string(num_nodes - 1) : "; there are none"));
    checked[i] = static_cast<NodeId>(id);
  }
  return checked;
}

void require_name(const std::string& name) {
  if (!is_dataset_name(name))
    fail(ErrorKind::kUsage, "'" + name + "' is no data set's name: 1 to 100 characters, no slash, no dot in front");
}

/// A RawGraph that is filled piece by piece; write() hands it to the writer of salient-prepare.
class StoreFromArrays {
 public:
  StoreFromArrays(const std::string& name, std::uint64_t num_nodes) {
    if (!is_node_count(num_nodes)) fail(ErrorKind::kBadData, "a graph has 1 to 2^32 - 2 nodes");
    require_name(name);
    graph_.name = name;
    graph_.source_kind = "python";
    graph_.source_path = "arrays";
    graph_.num_nodes = num_nodes;
  }

  void set_edges(const Ids& sources, const Ids& destinations, bool symmetric) {
    graph_.sources = checked_ids(sources, graph_.num_nodes, "edge_index[0]");
    graph_.destinations = checked_ids(destinations, graph_.num_nodes, "edge_index[1]");
    graph_.symmetrise = symmetric;
  }

  void set_float_features(const Array<float, 2>& x) {
    graph_.features = {.type = FeatureType::kF32, .dim = static_cast<int>(x.shape(1))};
    append_feature_rows(graph_.features, x.data(), x.size(), "x");
  }

  /// @param x  the bits of finite f16 numbers
  void set_half_features(const Array<std::int16_t, 2>& x) {
    graph_.features = {.type = FeatureType::kF16, .dim = static_cast<int>(x.shape(1))};
    graph_.features.rows.resize(x.size() * sizeof(std::int16_t));
    if (x.size() > 0) std::memcpy(graph_.features.rows.data(), x.data(), graph_.features.rows.size());
  }

  /// Rows in CSR; the columns of a row may come in any order, and twice.
  void set_sparse_features(const Ids& begin, const Ids& columns, const Array<float, 1>& values,
                           std::uint64_t num_columns, bool are_halves) {
    const std::span<const std::int64_t> first(begin.data(), begin.size()), column(columns.data(), columns.size());
    const bool is_csr = first.size() == graph_.num_nodes + 1 && column.size() == values.size() && first.front() == 0 &&
                        static_cast<std::size_t>(first.back()) == values.size() && std::ranges::is_sorted(first) &&
                        std::ranges::all_of(column, [&](std::int64_t c) { return std::uint64_t(c) < num_columns; });
    if (!is_csr) fail(ErrorKind::kBadData, "x: breaks the rules of a sparse CSR tensor");
    const SparseMatrix matrix{.num_rows = graph_.num_nodes,
                              .num_columns = num_columns,
                              .begin = {first.begin(), first.end()},
                              .columns = {column.begin(), column.end()},
                              .values = {values.data(), values.data() + values.size()}};
    graph_.features = sparse_features(matrix, are_halves ? FeatureType::kF16 : FeatureType::kF32, "x", graph_.memory);
  }

  /// @param x  a row for each edge
  void set_edge_features(const Array<float, 2>& x) {
    graph_.edge_values.features = {.type = FeatureType::kF32, .dim = static_cast<int>(x.shape(1))};
    append_feature_rows(graph_.edge_values.features, x.data(), x.size(), "edge_attr");
  }

  /// @param weights  of each edge, finite and 0 or more
  void set_edge_weights(const Array<float, 1>& weights) {
    graph_.edge_values.weights.assign(weights.data(), weights.data() + weights.size());
  }

  void set_edge_times(const Ids& times) { graph_.edge_values.times.assign(times.data(), times.data() + times.size()); }

  /// Edges that are given several times all stay.
  void keep_repeats() { graph_.repeats = Repeats::kKeep; }

  void set_node_times(const Ids& times) { graph_.node_times.assign(times.data(), times.data() + times.size()); }

  void set_classes(const Array<std::int32_t, 1>& y, int num_classes) {
    graph_.labels.assign(y.data(), y.data() + y.size());
    graph_.num_classes = num_classes;
  }

  void set_flags(const Array<std::int8_t, 2>& y) {
    graph_.task = Task::kMultiLabel;
    graph_.multi_labels.assign(y.data(), y.data() + y.size());
    graph_.num_classes = static_cast<int>(y.shape(1));
  }

  /// @param y  values to be predicted, NaN = not known
  void set_targets(const Array<float, 2>& y, const std::vector<std::string>& names) {
    graph_.task = Task::kRegression;
    graph_.targets.assign(y.data(), y.data() + y.size());
    graph_.num_classes = static_cast<int>(y.shape(1));
    graph_.class_names = names;
  }

  void set_split(const Ids& train, const Ids& valid, const Ids& test) {
    graph_.train = checked_ids(train, graph_.num_nodes, "train");
    graph_.valid = checked_ids(valid, graph_.num_nodes, "valid");
    graph_.test = checked_ids(test, graph_.num_nodes, "test");
  }

  /// @param sparse  keeps the features that are not zero, and no others
  void write(const nb::bytes& out, bool force, bool sparse, bool fp8) {
    WriteStoreOptions options{.out = text_of(out), .force = force, .in_fp8 = fp8};
    const LockReleased others_run;
    if (sparse) options.feature_layout = FeatureLayout::kCsr;
    write_store(std::move(graph_), options);
  }

  /// All of it, for a graph of several types, of which it is one.
  RawGraph take() { return std::move(graph_); }

 private:
  RawGraph graph_;
};

/// A typed graph whose types are such graphs without edges.
class TypedStoreFromArrays {
 public:
  explicit TypedStoreFromArrays(const std::string& name) {
    require_name(name);
    options_.name = name;
  }

  /// @param nodes     is empty then   @param is_target  its labels and its split are the store's
  void add_type(const std::string& type, StoreFromArrays& nodes, bool is_target) {
    RawGraph graph = nodes.take();
    options_.nodes.push_back({.type = type, .count = graph.num_nodes});
    features_.push_back(std::move(graph.features));
    if (!is_target) return;
    options_.target = type;
    target_ = std::move(graph);
  }

  void add_relation(const std::string& src, const std::string& name, const std::string& dst, const Ids& sources,
                    const Ids& destinations) {
    const std::string what = "edge_index of (" + src + ", " + name + ", " + dst + ")";
    edges_.push_back({checked_ids(sources, count_of(src), (what + "[0]").c_str()),
                      checked_ids(destinations, count_of(dst), (what + "[1]").c_str())});
    options_.edges.push_back({.src = src, .name = name, .dst = dst});
  }

  /// @param reverse  every relation gets one the other way, unless it is there
  void write(const nb::bytes& out, bool force, bool reverse, bool fp8) {
    options_.reverses = reverse ? Reverses::kAdd : Reverses::kNone;
    SchemaDraft draft = draft_schema(options_);
    if (!draft.rule.empty()) fail(ErrorKind::kBadData, options_.name + ": " + draft.rule);
    TypedGraph graph{.schema = std::move(draft.schema),
                     .features = std::move(features_),
                     .edges = std::move(edges_),
                     .target = std::move(target_)};
    graph.edges.resize(graph.schema.relations.size());
    graph.target.name = options_.name;
    graph.target.source_kind = "python";
    graph.target.source_path = "arrays";
    graph.target.symmetrise = false;
    graph.target.num_nodes = graph.schema.target().count;
    const WriteStoreOptions options{.out = text_of(out), .force = force, .in_fp8 = fp8};
    const LockReleased others_run;
    write_typed_store(std::move(graph), options);
  }

 private:
  std::uint64_t count_of(const std::string& type) const {
    const auto found = std::ranges::find(options_.nodes, type, &NodeSource::type);
    return found == options_.nodes.end() ? 0 : found->count.value_or(0);
  }

  TypedOptions options_;  ///< types and relations
  std::vector<RawFeatures> features_{};
  std::vector<NodePairs> edges_{};
  RawGraph target_{};
};

}  // namespace

void bind_store_writer(nb::module_& module) {
  nb::class_<StoreFromArrays>(module, "StoreFromArrays")
      .def(nb::init<const std::string&, std::uint64_t>(), nb::arg("name"), nb::arg("num_nodes"))
      .def("set_edges", &StoreFromArrays::set_edges)
      .def("set_float_features", &StoreFromArrays::set_float_features)
      .def("set_half_features", &StoreFromArrays::set_half_features)
      .def("set_sparse_features", &StoreFromArrays::set_sparse_features)
      .def("set_edge_features", &StoreFromArrays::set_edge_features)
      .def("set_edge_weights", &StoreFromArrays::set_edge_weights)
      .def("set_edge_times", &StoreFromArrays::set_edge_times)
      .def("keep_repeats", &StoreFromArrays::keep_repeats)
      .def("set_node_times", &StoreFromArrays::set_node_times)
      .def("set_classes", &StoreFromArrays::set_classes)
      .def("set_flags", &StoreFromArrays::set_flags)
      .def("set_targets", &StoreFromArrays::set_targets)
      .def("set_split", &StoreFromArrays::set_split)
      .def("write", &StoreFromArrays::write);
  nb::class_<TypedStoreFromArrays>(module, "TypedStoreFromArrays")
      .def(nb::init<const std::string&>(), nb::arg("name"))
      .def("add_type", &TypedStoreFromArrays::add_type)
      .def("add_relation", &TypedStoreFromArrays::add_relation)
      .def("write", &TypedStoreFromArrays::write);
}

}  // namespace salient::python
