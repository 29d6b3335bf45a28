// models/resident/step_graph.cu - see step_graph.h: a CUDA graph with a switch for each step of several variants.
#include <memory>

#include "core/error.h"
#include "models/resident/step_graph.h"
#include "models/resident/step_memory.h"
#include "models/resident/urgent_stream.h"

namespace salient {
namespace {

/// Sets the switch to the first variant with room for *size.
__global__ void choose_kernel(const LocalId* __restrict__ size, RowChoices capacities,
                              cudaGraphConditionalHandle chosen) {
  cudaGraphSetConditional(chosen, capacities.index_for(*size));
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

/// Enqueues the only variant of a step, or a switch. @return the graphs of the switch's branches; null: no switch
cudaGraph_t* enqueue_step(const StepGraph::Step& step, cudaGraph_t graph, cudaStream_t stream) {
  require(!step.variants.empty() && step.variants.size() <= StepGraph::kMaxVariants, "a step has 1 to 16 variants");
  const auto count = static_cast<unsigned>(step.variants.size());
  if (count == 1) {
    step.variants[0].enqueue(stream);
    return nullptr;
  }
  RowChoices capacities{{}, count};
  for (unsigned i = 0; i < count; ++i) capacities.of[i] = step.variants[i].capacity;
  cudaGraphConditionalHandle chosen{};
  cuda_check(cudaGraphConditionalHandleCreate(&chosen, graph, count - 1, cudaGraphCondAssignDefault));
  choose_kernel<<<1, 1, 0, stream>>>(step.size, capacities, chosen);
  cuda_check(cudaGetLastError());
  return add_switch(stream, chosen, count);
}

}  // namespace

StepGraph::StepGraph(const std::vector<Step>& steps) {
  cudaGraph_t raw = nullptr;
  cuda_check(cudaGraphCreate(&raw, 0));
  const Graph graph(raw);
  const UrgentStream stream;
  std::vector<CudaStream> others;
  std::vector<cudaGraph_t*> branches;  // of each step with several variants
  capture_into(raw, stream.get(), [&](cudaStream_t s) {
    for (const Step& step : steps) {
      while (others.size() < step.beside.size()) others.emplace_back();
      for (std::size_t i = 0; i < step.beside.size(); ++i) follow(others[i].get(), s);
      branches.push_back(enqueue_step(step, raw, s));  // before what is beside it, so that it starts first
      for (std::size_t i = 0; i < step.beside.size(); ++i) {
        step.beside[i](others[i].get());
        follow(s, others[i].get());
      }
    }
  });
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (std::size_t k = 0; branches[i] != nullptr && k < steps[i].variants.size(); ++k)
      capture_into(branches[i][k], stream.get(), steps[i].variants[k].enqueue);
  cudaGraphExec_t executable = nullptr;
  // without the flag all kernels have the priority of the stream that the graph is launched on
  cuda_check(cudaGraphInstantiate(&executable, raw, cudaGraphInstantiateFlagUseNodePriority));
  executable_.reset(executable);
}

}  // namespace salient
