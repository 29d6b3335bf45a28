// loaders/device_graph.cpp - see device_graph.h.
#include "loaders/device_graph.h"

#include <utility>

#include "core/cuda/cuda.h"
#include "core/error.h"
#include "loaders/device_upload.h"
#include "sampler/device_sampler.h"

namespace salient {
namespace {

template <class T>
DeviceArray<T> upload_array(const char* what, std::span<const T> values) {
  auto array = make_device_array<T>(values.size(), "the graph", Topic::kDeviceGraph);
  upload(what, reinterpret_cast<const std::byte*>(values.data()), values.size_bytes(),
         reinterpret_cast<std::byte*>(array.get()));
  return array;
}

}  // namespace

struct DeviceGraph::Arrays {
  DeviceArray<EdgeOffset> indptr;
  DeviceArray<NodeId> indices;
  std::size_t num_nodes;
};

DeviceGraph::DeviceGraph(CsrGraph host)
    : arrays_(new Arrays{upload_array("row bounds to the GPU", host.indptr),
                         upload_array("graph to the GPU", host.indices), host.num_nodes()}) {}
DeviceGraph::~DeviceGraph() = default;

DeviceCsr DeviceGraph::csr() const { return {arrays_->indptr.get(), arrays_->indices.get(), arrays_->num_nodes}; }

std::unique_ptr<BatchSampler> DeviceGraph::make_sampler(std::vector<int> fanouts, Replacement replacement) const {
  return std::make_unique<DeviceSampler>(csr(), std::move(fanouts), replacement);
}

}  // namespace salient
