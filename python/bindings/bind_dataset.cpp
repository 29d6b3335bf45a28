// python/bindings/bind_dataset.cpp - an opened data set and its arrays, as Python sees them.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/host/machine.h"
#include "core/number_text.h"
#include "python/bindings/bindings.h"
#include "python/bindings/python_lock.h"
#include "store/checksums.h"
#include "store/dataset_name.h"
#include "store/open_store.h"
#include "store/store_manifest.h"
#include "store/synthetic.h"
#include "store/synthetic_typed.h"

namespace salient::python {
namespace {

/// Bytes of a store whose checksums are compared whenever it is opened: what takes less than 0.1 s.
constexpr std::uint64_t kAlwaysChecked = 256 << 20;

/// @throws Error{kHostMemory}
void require_memory(const std::string& name, std::uint64_t num_bytes) {
  const auto needed = static_cast<std::int64_t>(num_bytes);
  const std::int64_t available = available_host_bytes();
  if (available > 0 && needed > available)
    fail(ErrorKind::kHostMemory, name + ": needs " + gigabytes_needed(needed) + " of memory, and " +
                                     gigabytes(available) + " are free; take a smaller scale");
}

Dataset make_or_open(const std::string& name, const std::string& data_root) {
  if (is_synthetic_typed_name(name)) {
    const SyntheticTypedOptions options = parse_synthetic_typed_name(name);
    require_memory(name, synthetic_bytes(options));
    return make_synthetic_dataset(options);
  }
  if (is_synthetic_name(name)) {
    const SyntheticOptions options = parse_synthetic_name(name);
    require_memory(name, synthetic_peak_bytes(options, /*num_threads=*/0));
    return make_synthetic_dataset(options);
  }
  const std::filesystem::path folder = dataset_folder(name, data_root);
  Dataset dataset = open_store(folder, 0, FeatureFile::kNeeded, GraphKind::kAny).dataset;
  check_checksums_of_short_store(folder, kAlwaysChecked);
  return dataset;
}

/// Paths are bytes: they need not be UTF-8.
std::shared_ptr<OpenDataset> open_by_name(const nb::bytes& name, const nb::bytes& data_root) {
  const std::string path = text_of(name), root = text_of(data_root);
  const LockReleased others_run;
  return std::make_shared<OpenDataset>(OpenDataset{std::make_shared<const Dataset>(make_or_open(path, root))});
}

std::shared_ptr<GraphOnDevice> copy_to_device(std::shared_ptr<OpenDataset> dataset) {
  const LockReleased others_run;
  auto graph = std::make_shared<const DeviceGraph>(dataset->data->graph);
  return std::make_shared<GraphOnDevice>(GraphOnDevice{std::move(dataset), std::move(graph)});
}

/// The method of an array of OpenDataset; the array keeps the data set.
template <class T>
auto array_method(std::span<const T> Dataset::*field) {
  return [field](nb::pointer_and_handle<OpenDataset> self) {
    const std::span<const T> values = (*self.p->data).*field;
    const auto type = std::is_floating_point_v<T> ? nb::dtype<float>()
                      : sizeof(T) == 1            ? nb::dtype<std::int8_t>()
                      : sizeof(T) == 8            ? nb::dtype<std::int64_t>()
                                                  : nb::dtype<std::int32_t>();
    return array_of(values.data(), {values.size()}, self.h, type);
  };
}

/// Of a typed graph those of the target type.
std::size_t num_feature_rows(const Dataset& data) {
  return data.types.is_typed() ? static_cast<std::size_t>(data.types.target().count) : data.num_nodes();
}

/// Of fp8 bytes: DLPack's own code for it is younger than what reads it.
nb::dlpack::dtype dtype_of(FeatureType type) {
  if (type == FeatureType::kFp8) return nb::dtype<std::uint8_t>();
  return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float),
          type == FeatureType::kF16 ? std::uint8_t{16} : std::uint8_t{32}, 1};
}

void bind_arrays(nb::class_<OpenDataset>& type) {
  using Self = nb::pointer_and_handle<OpenDataset>;
  type.def("indptr", [](Self self) {
    const auto indptr = self.p->data->graph.indptr;
    return array_of(indptr.data(), {indptr.size()}, self.h, nb::dtype<std::int64_t>());
  });
  type.def("indices", [](Self self) {
    const auto indices = self.p->data->graph.indices;
    return array_of(indices.data(), {indices.size()}, self.h, nb::dtype<std::int32_t>());
  });
  type.def("features", [](Self self) {
    const Dataset& data = *self.p->data;
    return array_of(data.features.data, {num_feature_rows(data), static_cast<std::size_t>(data.feature_dim)}, self.h,
                    dtype_of(data.feature_type));
  });
  type.def("feature_begin", [](Self self) {
    const auto begin = self.p->data->sparse_features.begin;
    return array_of(begin.data(), {begin.size()}, self.h, nb::dtype<std::int64_t>());
  });
  type.def("feature_columns", [](Self self) {
    const auto columns = self.p->data->sparse_features.columns;
    return array_of(columns.data(), {columns.size()}, self.h, nb::dtype<std::int32_t>());
  });
  type.def("feature_values", [](Self self) {
    const Dataset& data = *self.p->data;
    return array_of(data.sparse_features.values, {data.sparse_features.columns.size()}, self.h,
                    dtype_of(data.feature_type));
  });
  type.def("edge_times", [](Self self) {
    const auto times = self.p->data->graph.entries.times;
    return array_of(times.data(), {times.size()}, self.h, nb::dtype<std::int64_t>());
  });
  type.def("edge_weights", [](Self self) {
    const auto weights = self.p->data->graph.entries.weights;
    return array_of(weights.data(), {weights.size()}, self.h, nb::dtype<float>());
  });
  type.def("edge_features", [](Self self) {
    const Dataset& data = *self.p->data;
    return array_of(data.edge_features.data,
                    {data.edge_features.num_rows, static_cast<std::size_t>(data.edge_feature_dim)}, self.h,
                    dtype_of(data.edge_feature_type));
  });
  type.def("node_times", array_method(&Dataset::node_times));
  type.def("labels", array_method(&Dataset::labels));
  type.def("multi_labels", array_method(&Dataset::multi_labels));
  type.def("targets", array_method(&Dataset::targets));
  type.def("train", array_method(&Dataset::train));
  type.def("valid", array_method(&Dataset::valid));
  type.def("test", array_method(&Dataset::test));
}

/// Of the links of a split.
void bind_links(nb::class_<OpenDataset>& type) {
  using Self = nb::pointer_and_handle<OpenDataset>;
  type.def(
      "links",
      [](Self self, std::size_t split) {
        const auto ends = self.p->data->links.at(split).ends;
        return array_of(ends.data(), {ends.size() / 2, 2}, self.h, nb::dtype<std::int32_t>());
      },
      nb::arg("split"));
  type.def(
      "link_relations",
      [](Self self, std::size_t split) {
        const auto relations = self.p->data->links.at(split).relations;
        return array_of(relations.data(), {relations.size()}, self.h, nb::dtype<std::int16_t>());
      },
      nb::arg("split"));
  type.def(
      "link_times",
      [](Self self, std::size_t split) {
        const auto times = self.p->data->links.at(split).times;
        return array_of(times.data(), {times.size()}, self.h, nb::dtype<std::int64_t>());
      },
      nb::arg("split"));
}

}  // namespace

void bind_dataset(nb::module_& module) {
  nb::class_<OpenDataset> type(module, "Dataset");
  const auto fact = [&](const char* name, auto read) {
    type.def_prop_ro(name, [read](const OpenDataset& self) { return read(*self.data); });
  };
  fact("name", [](const Dataset& data) { return data.name; });
  fact("directory", [](const Dataset& data) { return nb::bytes(data.directory.c_str()); });
  fact("fingerprint", [](const Dataset& data) { return data.fingerprint; });
  fact("num_nodes", [](const Dataset& data) { return data.num_nodes(); });
  fact("num_edges", [](const Dataset& data) { return data.num_edges(); });
  fact("num_classes", [](const Dataset& data) { return data.num_classes; });
  fact("num_features", [](const Dataset& data) { return data.feature_dim; });
  fact("num_edge_features", [](const Dataset& data) { return data.edge_feature_dim; });
  fact("is_symmetric", [](const Dataset& data) { return data.is_symmetric; });
  fact("task", [](const Dataset& data) { return name_of(data.task); });
  fact("class_names", [](const Dataset& data) { return data.class_names; });
  fact("has_edge_weights", [](const Dataset& data) { return data.has_edge_weights; });
  fact("has_edge_times", [](const Dataset& data) { return data.has_edge_times; });
  fact("has_link_times", [](const Dataset& data) { return data.has_link_times; });
  fact("has_node_times", [](const Dataset& data) { return data.has_node_times; });
  fact("has_sparse_features", [](const Dataset& data) { return data.has_sparse_features(); });
  fact("fp8_scale", [](const Dataset& data) { return data.fp8_scale; });
  fact("feature_bytes", [](const Dataset& data) { return data.feature_bytes(); });
  fact("graph_bytes", [](const Dataset& data) {
    return data.graph.num_bytes() + static_cast<std::int64_t>(data.graph.entries.num_bytes());
  });
  bind_arrays(type);
  bind_links(type);
  bind_types(type);
  bind_type_views(module);
  nb::class_<GraphOnDevice>(module, "DeviceGraph");
  module.def("open_dataset", &open_by_name, nb::arg("name"), nb::arg("data_root"));
  module.def("copy_graph_to_device", &copy_to_device, nb::arg("dataset"));
}

}  // namespace salient::python
