// python/bindings/bindings.h - what the parts of the extension module share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "core/types.h"
#include "loaders/device_graph.h"
#include "loaders/node_set.h"
#include "store/dataset.h"

namespace salient::python {

namespace nb = nanobind;

/// Python's handle of a data set; loaders share it.
struct OpenDataset {
  std::shared_ptr<const Dataset> data;
};

/// Likewise of a graph in GPU memory.
struct GraphOnDevice {
  std::shared_ptr<const OpenDataset> source;
  std::shared_ptr<const DeviceGraph> graph;
};

/// Memory as an array that knows DLPack, so that torch sees it without a copy. Ids become int32 of the same bits: torch
/// indexes with those.
/// @param owner  what keeps the memory
inline nb::ndarray<> array_of(const void* data, std::initializer_list<std::size_t> shape, nb::handle owner,
                              nb::dlpack::dtype type) {
  return {const_cast<void*>(data), shape.size(), shape.begin(), owner, nullptr, type, nb::device::cpu::value, 0};
}

inline std::string text_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

/// Nodes whose feature rows are in GPU memory, for loaders to share.
struct CachedNodes {
  std::vector<NodeId> ids{};             ///< ascending: the order of the rows
  std::shared_ptr<const NodeSet> set{};  ///< the same
};

struct StreamedBatch;

/// What typed graphs have beside.
void bind_types(nb::class_<OpenDataset>& dataset);
void bind_typed_parts(nb::class_<StreamedBatch>& batch);
void bind_type_views(nb::module_& module);

void bind_dataset(nb::module_& module);
void bind_node_lookup(nb::module_& module);
void bind_placement(nb::module_& module);
void bind_schema(nb::module_& module);
void bind_stream(nb::module_& module);
void bind_store_writer(nb::module_& module);

}  // namespace salient::python
