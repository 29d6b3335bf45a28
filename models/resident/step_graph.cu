// models/resident/step_graph.cu - see step_graph.h: a CUDA graph whose last node is a switch.
#include <memory>

#include "core/error.h"
#include "models/resident/step_graph.h"
#include "models/resident/urgent_stream.h"

namespace salient {
namespace {

struct Capacities {
  std::int64_t of[StepGraph::kMaxVariants];
  unsigned count;
};

/// Sets the switch to the first variant with room for *size.
__global__ void choose_kernel(const LocalId* __restrict__ size, Capacities capacities,
                              cudaGraphConditionalHandle chosen) {
  unsigned variant = 0;
  while (variant + 1 < capacities.count && *size > capacities.of[variant]) ++variant;
  cudaGraphSetConditional(chosen, variant);
}

struct DestroyGraph {
  void operator()(cudaGraph_t raw) const noexcept { (void)cudaGraphDestroy(raw); }
};
using Graph = std::unique_ptr<CUgraph_st, DestroyGraph>;

void capture_into(cudaGraph_t graph, cudaStream_t stream, const StepGraph::Enqueue& enqueue) {
  cuda_check(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
  enqueue(stream);
  cuda_check(cudaStreamEndCapture(stream, &graph));
}

/// Adds a switch behind all that `stream` has captured so far. @return the graphs of its branches, which it owns
cudaGraph_t* add_switch(cudaStream_t stream, cudaGraphConditionalHandle chosen, unsigned count) {
  cudaStreamCaptureStatus status{};
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* before = nullptr;
  std::size_t num_before = 0;
  cuda_check(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &before, nullptr, &num_before));
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = chosen;
  parameters.conditional.type = cudaGraphCondTypeSwitch;
  parameters.conditional.size = count;
  cudaGraphNode_t node = nullptr;
  cuda_check(cudaGraphAddNode(&node, graph, before, nullptr, num_before, &parameters));
  cuda_check(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
  return parameters.conditional.phGraph_out;
}

}  // namespace

StepGraph::StepGraph(const Enqueue& begin, const LocalId* size, const std::vector<Variant>& variants,
                     const Enqueue& beside) {
  require(!variants.empty() && variants.size() <= kMaxVariants, "a step has 1 to 16 variants");
  const auto count = static_cast<unsigned>(variants.size());
  Capacities capacities{{}, count};
  for (unsigned i = 0; i < count; ++i) capacities.of[i] = variants[i].capacity;
  const UrgentStream stream;
  const CudaStream other;
  const auto with_beside = [&](cudaStream_t s, const auto& enqueue) {
    if (!beside) return enqueue();
    CudaEvent fork(CudaEvent::Kind::kOrder), join(CudaEvent::Kind::kOrder);
    fork.record(s);
    fork.make_wait(other.get());
    enqueue();  // first, so that it starts first
    beside(other.get());
    join.record(other.get());
    join.make_wait(s);
  };
  cudaGraph_t raw = nullptr;
  cuda_check(cudaGraphCreate(&raw, 0));
  const Graph graph(raw);
  if (count == 1) {
    capture_into(raw, stream.get(), [&](cudaStream_t s) {
      begin(s);
      with_beside(s, [&] { variants[0].enqueue(s); });
    });
  } else {
    cudaGraphConditionalHandle chosen{};
    cuda_check(cudaGraphConditionalHandleCreate(&chosen, raw, count - 1, cudaGraphCondAssignDefault));
    cudaGraph_t* branches = nullptr;
    capture_into(raw, stream.get(), [&](cudaStream_t s) {
      begin(s);
      with_beside(s, [&] {
        choose_kernel<<<1, 1, 0, s>>>(size, capacities, chosen);
        cuda_check(cudaGetLastError());
        branches = add_switch(s, chosen, count);
      });
    });
    for (unsigned i = 0; i < count; ++i) capture_into(branches[i], stream.get(), variants[i].enqueue);
  }
  cudaGraphExec_t executable = nullptr;
  // without the flag all kernels have the priority of the stream that the graph is launched on
  cuda_check(cudaGraphInstantiate(&executable, raw, cudaGraphInstantiateFlagUseNodePriority));
  executable_.reset(executable);
}

}  // namespace salient
