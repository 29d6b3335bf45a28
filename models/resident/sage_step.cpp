// models/resident/sage_step.cpp - see sage_step.h: the CUDA graphs of steps, and their replays.
#include "models/resident/sage_step.h"

#include <optional>
#include <utility>

#include "core/error.h"
#include "models/resident/sage_passes.h"
#include "models/resident/step_graph.h"
#include "models/resident/urgent_stream.h"

namespace salient {
namespace {

using Place = SageLayers::Place;

StepGraph graph_of(const StepGraph::Enqueue& enqueue) {
  return StepGraph({.size = nullptr, .variants = {{0, enqueue}}});
}

/// A step's place among those of one graph.
struct StepOf {
  std::size_t index, count;

  bool is_first() const { return index == 0; }
  bool is_last() const { return index + 1 == count; }
};

/// Steps whose first layer is fused: a graph of one step for every tree, and where a step has its update in it a graph
/// of several, with nothing between them.
class FusedSteps {
 public:
  explicit FusedSteps(SagePasses& passes) : passes_(passes), batches_(passes.forward().batches()) {
    for (std::size_t tree = 0; tree < batches_.num_trees(); ++tree)
      one_.push_back(graph_of([&](cudaStream_t on) { enqueue({0, 1}, tree, on); }));
    if (!passes.has_update()) return;
    several_.emplace(graph_of([&](cudaStream_t on) {
      for (std::size_t i = 0; i < SageStep::kMaxAtOnce; ++i)
        enqueue({i, SageStep::kMaxAtOnce}, i % batches_.num_trees(), on);
    }));
  }

  void start_epoch() { is_prepared_ = false; }

  void run(const StepHeader& header, std::span<const StepHeader> ahead, cudaStream_t on) {
    const std::size_t tree = batches_.begin(header, ahead, stepping_.get());
    launch(one_[tree], tree, on);
    is_prepared_ = !ahead.empty();
  }

  bool can_run_several(std::size_t num_left) const {
    return several_ && num_left >= SageStep::kMaxAtOnce && batches_.is_at_first_tree();
  }
  void run_several(std::span<const StepHeader> rest, cudaStream_t on) {
    batches_.begin_all(rest, SageStep::kMaxAtOnce, stepping_.get());
    launch(*several_, 0, on);
    is_prepared_ = rest.size() > SageStep::kMaxAtOnce;
  }

 private:
  /// Beside all of a step the next batch is gathered, on multiprocessors that the first layer leaves to that; behind
  /// the gather, there and where else there is room, its dropout is drawn, and the last hop of the batch after it
  /// sampled. Nothing else has room beside the first layer, and the product behind it wants whole multiprocessors, so
  /// levels are sampled behind both, beside the last layer, which is captured first.
  void enqueue(StepOf step, std::size_t tree, cudaStream_t on) {
    SageLayers& layers = passes_.forward();
    const Place place{tree, 0}, next{batches_.tree_behind(tree, 1), 0};
    follow(gathering_.get(), on);
    if (!step.is_first()) follow(gathering_.get(), sampling_.get());  // of the step before, for this one's last hop
    layers.gather(next, gathering_.get());
    layers.draw(next, gathering_.get());
    CudaEvent is_next_ready(CudaEvent::Kind::kOrder);
    is_next_ready.record(gathering_.get());
    batches_.sample_last_hop(tree, gathering_.get());
    if (!passes_.has_update()) passes_.pack(on);
    layers.enqueue_first(place, on);
    layers.enqueue_layer(1, place, on);
    follow(sampling_.get(), on);
    passes_.enqueue_later(2, place, on);
    if (!step.is_first()) batches_.begin_announced(step.index, sampling_.get());
    batches_.sample_levels(tree, sampling_.get());
    passes_.finish(place, on);
    if (step.is_last()) cuda_check(cudaEventRecordWithFlags(computed_.get(), on, cudaEventRecordExternal));
    is_next_ready.make_wait(on);
    if (!step.is_last()) return;
    follow(on, sampling_.get());
    follow(on, gathering_.get());
  }

  /// What the steps compute is there before their graph ends, so that an exchange of gradients and the update run
  /// beside the rest of the preparation of later batches.
  void launch(const StepGraph& graph, std::size_t first_tree, cudaStream_t on) {
    updated_.record(on);
    updated_.make_wait(stepping_.get());
    if (!is_prepared_) {
      passes_.forward().gather({first_tree, 0}, stepping_.get());
      passes_.forward().draw({first_tree, 0}, stepping_.get());
      if (passes_.has_update()) passes_.pack(stepping_.get());
    }
    graph.launch(stepping_.get());
    computed_.make_wait(on);
  }

  SagePasses& passes_;
  SampledBatches& batches_;
  CudaStream gathering_;   // of batches behind, when a graph is recorded: it gives way to all else
  UrgentStream sampling_;  // of levels, small kernels that wait for each other
  CudaStream stepping_;    // where the graphs run
  CudaEvent computed_{CudaEvent::Kind::kOrder};  // recorded inside them, when gradients or new weights are there
  CudaEvent updated_{CudaEvent::Kind::kOrder};   // the weights, by what the caller enqueued
  std::vector<StepGraph> one_;                   // by tree
  std::optional<StepGraph> several_;
  bool is_prepared_ = false;  // the next batch, and the packed weights, by the graph before
};

/// A graph for every tree, which samples the next batch beside the step's computation.
std::vector<StepGraph> unfused_graphs(SagePasses& passes) {
  SageLayers& layers = passes.forward();
  SampledBatches& batches = layers.batches();
  std::vector<StepGraph> graphs;
  for (std::size_t tree = 0; tree < batches.num_trees(); ++tree) {
    std::vector<StepGraph::Variant> variants;
    for (std::size_t choice = 0; choice < layers.first_rows().size(); ++choice)
      variants.push_back({layers.first_rows()[choice], [&passes, place = Place{tree, choice}](cudaStream_t on) {
                            passes.pack(on);
                            passes.forward().gather(place, on);
                            passes.forward().enqueue_first(place, on);
                            passes.enqueue_later(1, place, on);
                            passes.finish(place, on);
                          }});
    const auto sample = [&batches, tree](cudaStream_t on) {
      batches.sample_levels(tree, on);
      batches.sample_last_hop(tree, on);
    };
    graphs.emplace_back(StepGraph::Step{batches.tree(tree).size_of(layers.layers().size() - 1), variants, {sample}});
  }
  return graphs;
}

}  // namespace

struct SageStep::Impl {
  Impl(const SageStepShape& shape, const SageStepData& data) : passes(shape, data) {
    if (passes.is_fused())
      fused.emplace(passes);
    else
      graphs = unfused_graphs(passes);
  }
  ~Impl() { (void)cudaDeviceSynchronize(); }  // replays use the memory
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  SampledBatches& batches() { return passes.forward().batches(); }

  SagePasses passes;
  std::optional<FusedSteps> fused;
  std::vector<StepGraph> graphs;  // where the first layer is not fused, by tree
};

SageStep::SageStep(const SageStepShape& shape, const SageStepData& data) : impl_(std::make_unique<Impl>(shape, data)) {}
SageStep::~SageStep() = default;

void SageStep::start_epoch(std::span<const NodeId> order) {
  impl_->batches().start(order);
  if (impl_->fused) impl_->fused->start_epoch();
}

void SageStep::run(const StepHeader& header, std::span<const StepHeader> ahead, cudaStream_t stream) {
  if (impl_->fused) return impl_->fused->run(header, ahead, stream);
  impl_->graphs[impl_->batches().begin(header, ahead, stream)].launch(stream);
}

bool SageStep::has_update() const { return impl_->passes.has_update(); }

std::size_t SageStep::run_some(std::span<const StepHeader> rest, cudaStream_t stream) {
  if (impl_->fused && impl_->fused->can_run_several(rest.size())) {
    impl_->fused->run_several(rest, stream);
    return kMaxAtOnce;
  }
  run(rest.front(), rest.subspan(1), stream);
  return 1;
}

StepCounts SageStep::counts(cudaStream_t stream) const { return impl_->batches().counts(stream); }

}  // namespace salient
