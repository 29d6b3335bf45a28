// loaders/device_graph.cpp - see device_graph.h.
#include "loaders/device_graph.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/cuda/cuda.h"
#include "core/error.h"
#include "loaders/device_upload.h"
#include "sampler/device_sampler.h"

namespace salient {
namespace {

template <class T>
DeviceArray<T> upload_array(const char* what, std::span<const T> values) {
  void* raw = nullptr;
  if (cudaMalloc(&raw, std::max<std::size_t>(values.size_bytes(), 1)) != cudaSuccess) {
    (void)cudaGetLastError();
    fail(ErrorKind::kDeviceMemory, "the graph (" + std::to_string(values.size_bytes() >> 20) +
                                       " MiB) does not fit into GPU memory; use --sampler host");
  }
  DeviceArray<T> array(static_cast<T*>(raw));
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

std::unique_ptr<BatchSampler> DeviceGraph::make_sampler(std::vector<int> fanouts, Replacement replacement) const {
  const DeviceCsr graph{arrays_->indptr.get(), arrays_->indices.get(), arrays_->num_nodes};
  return std::make_unique<DeviceSampler>(graph, std::move(fanouts), replacement);
}

}  // namespace salient
