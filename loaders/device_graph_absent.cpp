// loaders/device_graph_absent.cpp - stands in for device_graph.cpp in a build without CUDA.
#include "core/error.h"
#include "loaders/device_graph.h"

namespace salient {

struct DeviceGraph::Arrays {};

DeviceGraph::DeviceGraph(CsrGraph) {
  fail(ErrorKind::kNoDevice, "--sampler device: this is a build without CUDA; use --sampler host");
}
DeviceGraph::~DeviceGraph() = default;

std::unique_ptr<BatchSampler> DeviceGraph::make_sampler(std::vector<int>, Replacement) const { return nullptr; }

}  // namespace salient
