// loaders/device_graph_absent.cpp - replaces device_graph.cpp in a build without CUDA.
#include "core/error.h"
#include "loaders/device_graph.h"

namespace salient {

struct DeviceGraph::Arrays {};

DeviceGraph::DeviceGraph(CsrGraph) {
  fail(ErrorKind::kNoDevice, "no graph in GPU memory: this is a build without CUDA", Topic::kDeviceGraph);
}
DeviceGraph::DeviceGraph(CsrGraph host, const GraphTiers&) : DeviceGraph(host) {}
DeviceGraph::~DeviceGraph() = default;

std::unique_ptr<BatchSampler> DeviceGraph::make_sampler(SamplingRule, const std::optional<TimeRule>&,
                                                        std::span<const std::int64_t>) const {
  return nullptr;
}

}  // namespace salient
