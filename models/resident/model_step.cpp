// models/resident/model_step.cpp - see model_step.h.
#include "models/resident/model_step.h"

#include <optional>
#include <vector>

#include "core/error.h"
#include "models/resident/step_graph.h"
#include "models/resident/step_program.h"

namespace salient {
namespace {

/// What models/describe/resident_limits.cpp names, but for GraphSAGE.
constexpr struct {
  ModelKind kind;
  void (*build)(StepProgram& program);
} kPrograms[] = {{ModelKind::kGcn, build_gcn},
                 {ModelKind::kGin, build_gin},
                 {ModelKind::kSageRi, build_sage_ri},
                 {ModelKind::kGat, build_gat},
                 {ModelKind::kGatv2, build_gatv2}};

void build(StepProgram& program) {
  for (const auto& [kind, build_kind] : kPrograms)
    if (kind == program.shape().model) return build_kind(program);
  fail(ErrorKind::kInternal, "a model without a step program");
}

}  // namespace

std::int64_t model_step_bytes(const ModelStepShape& shape) {
  StepProgram program(shape, nullptr);
  build(program);
  return program.bytes();
}

struct ModelStep::Impl {
  Impl(const ModelStepShape& shape, const ModelStepData& step_data) : data(step_data), program(shape, &data) {
    require(shape.hidden_dim % 8 == 0, "hidden layers have a multiple of 8 columns");
    build(program);
    program.finish();
    std::vector<StepGraph::Variant> variants;
    for (std::size_t choice = 0; choice < program.levels().choices().size(); ++choice)
      variants.push_back(
          {program.levels().choices()[choice], [this, choice](cudaStream_t on) { program.enqueue(choice, on); }});
    graph.emplace([this](cudaStream_t on) { program.sampled_tree().sample(on); },
                  program.tree().size_of(program.levels().last()), variants);
  }
  ~Impl() { (void)cudaDeviceSynchronize(); }  // replays use the memory
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const ModelStepData data;
  StepProgram program;
  std::optional<StepGraph> graph;
  DeviceArray<NodeId> order;
  std::size_t order_size = 0;
  std::int64_t num_seeds = 0;  // of the epoch
};

ModelStep::ModelStep(const ModelStepShape& shape, const ModelStepData& data)
    : impl_(std::make_unique<Impl>(shape, data)) {}
ModelStep::~ModelStep() = default;

void ModelStep::start_epoch(std::span<const NodeId> order) {
  Impl& self = *impl_;
  cuda_check(cudaDeviceSynchronize());  // earlier batches read the order
  if (order.size() > self.order_size) {
    self.order = make_device_array<NodeId>(order.size());
    self.order_size = order.size();
  }
  cuda_check(cudaMemcpy(self.order.get(), order.data(), order.size_bytes(), cudaMemcpyHostToDevice));
  self.program.sampled_tree().clear_counts();
  self.num_seeds = 0;
}

void ModelStep::run(const StepHeader& header, cudaStream_t stream) {
  impl_->num_seeds += header.num_seeds;
  impl_->program.sampled_tree().begin({header, impl_->order.get()}, stream);
  impl_->graph->launch(stream);
}

const float* ModelStep::logits() const { return impl_->program.logits_rows(); }
std::int64_t ModelStep::logits_stride() const { return padded(impl_->program.shape().num_classes); }

SageCounts ModelStep::counts(cudaStream_t stream) const {
  SageCounts result{{}, impl_->program.tree().num_edges(SampledTree::Counted::kAllBatches, stream)};
  std::int64_t nodes = impl_->num_seeds;
  for (const std::int64_t edges : result.hop_edges) result.hop_nodes.push_back(nodes += edges);
  return result;
}

}  // namespace salient
