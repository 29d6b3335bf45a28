// models/resident/model_step.cpp - see model_step.h.
#include "models/resident/model_step.h"

#include <optional>
#include <vector>

#include "core/error.h"
#include "models/resident/step_graph.h"
#include "models/resident/step_program.h"
#include "models/resident/urgent_stream.h"

namespace salient {
namespace {

void build(StepProgram& program) {
  program.shape().model.kind == ModelKind::kSageRi ? build_sage_ri(program) : build_stack(program);
}

}  // namespace

std::int64_t model_step_bytes(const ModelStepShape& shape) {
  StepProgram program(shape, nullptr);
  build(program);
  return program.bytes();
}

/// Replays of a program, and the batches that they work on.
struct ModelStep::Impl {
  Impl(const ModelStepShape& shape, const ModelStepData& step_data) : data(step_data), program(shape, &data) {
    require(shape.model.hidden_dim % 8 == 0, "hidden layers have a multiple of 8 columns");
    require(static_cast<std::size_t>(shape.model.num_layers) == shape.rule.fanouts.size(), "a layer has a fanout");
    build(program);
    program.finish();
    std::vector<StepGraph::Step> turn;
    for (std::size_t i = 0; i < kMaxAtOnce; ++i) turn.push_back(step_of(i, i % program.batches().num_trees()));
    if (program.has_update()) several.emplace(turn);
    for (std::size_t tree = 0; tree < program.batches().num_trees(); ++tree) one.emplace_back(step_of(0, tree));
  }
  ~Impl() { (void)cudaDeviceSynchronize(); }  // replays use the memory
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// The batch in a tree: beside it later ones are sampled, and the next one gathered where that is done ahead. The
  /// gather begins behind the largest products, whose blocks want whole multiprocessors: beside them it would come
  /// first. Sums over rows, norms and small products leave room to what waits for memory.
  /// @param i  its place among the steps of one graph
  StepGraph::Step step_of(std::size_t i, std::size_t tree) {
    const Levels& levels = program.levels();
    SampledBatches& batches = program.batches();
    StepGraph::Step step{.size = batches.tree(tree).size_of(levels.last()), .variants = {}};
    const auto fork = [this, &batches, tree](cudaStream_t on) {
      if (!program.prepares_ahead()) return;
      follow(gathering.get(), on);
      program.enqueue_ahead(batches.tree_behind(tree, 1), gathering.get());
    };
    step.beside = {[&batches, i, tree](cudaStream_t on) {
      if (i > 0) batches.begin_announced(i, on);
      batches.sample_levels(tree, on);
      batches.sample_last_hop(tree, on);
    }};
    for (std::size_t choice = 0; choice < levels.choices().size(); ++choice)
      step.variants.push_back({levels.choices()[choice], [this, tree, choice, fork](cudaStream_t on) {
                                 program.enqueue({tree, choice, on, summing.get()}, fork);
                                 if (program.prepares_ahead()) follow(on, gathering.get());
                               }});
    return step;
  }

  void launch(const StepGraph& graph, std::size_t first_tree, cudaStream_t stream) {
    if (program.prepares_ahead() && !is_prepared) program.enqueue_ahead(first_tree, stream);
    graph.launch(stream);
  }

  const ModelStepData data;
  StepProgram program;
  UrgentStream summing;        // of weights' gradients, when a step is recorded
  CudaStream gathering;        // of the next batch; it gives way to all else
  std::vector<StepGraph> one;  // a step, by tree
  std::optional<StepGraph> several;
  bool is_prepared = false;  // the next batch, by the graph before
};

ModelStep::ModelStep(const ModelStepShape& shape, const ModelStepData& data)
    : impl_(std::make_unique<Impl>(shape, data)) {}
ModelStep::~ModelStep() = default;

void ModelStep::start_epoch(std::span<const NodeId> order) {
  impl_->program.batches().start(order);
  impl_->is_prepared = false;
}

void ModelStep::run(const StepHeader& header, std::span<const StepHeader> ahead, cudaStream_t stream) {
  const std::size_t tree = impl_->program.batches().begin(header, ahead, stream);
  impl_->launch(impl_->one[tree], tree, stream);
  impl_->is_prepared = !ahead.empty();
}

bool ModelStep::has_update() const { return impl_->program.has_update(); }

std::size_t ModelStep::run_some(std::span<const StepHeader> rest, cudaStream_t stream) {
  SampledBatches& batches = impl_->program.batches();
  if (!impl_->several || rest.size() < kMaxAtOnce || !batches.is_at_first_tree()) {
    run(rest.front(), rest.subspan(1), stream);
    return 1;
  }
  batches.begin_all(rest, kMaxAtOnce, stream);
  impl_->launch(*impl_->several, 0, stream);
  impl_->is_prepared = rest.size() > kMaxAtOnce;
  return kMaxAtOnce;
}

const float* ModelStep::logits() const { return impl_->program.logits_rows(); }
std::int64_t ModelStep::logits_stride() const { return padded(impl_->program.shape().model.num_classes); }
StepCounts ModelStep::counts(cudaStream_t stream) const { return impl_->program.batches().counts(stream); }

}  // namespace salient
