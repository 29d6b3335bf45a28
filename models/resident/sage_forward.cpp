// models/resident/sage_forward.cpp - see sage_forward.h.
//
//   level L-1 of the tree --- hop L-1, gather, mean --> operand 1 --- * W1 --> z1 --- relu, mean --> operand 2 ...
//   ... operand L --- * WL --> logits
#include "models/resident/sage_forward.h"

#include <optional>
#include <vector>

#include "core/error.h"
#include "models/resident/step_graph.h"

namespace salient {

std::int64_t sage_forward_bytes(const SageShape& shape) { return sage_layers_bytes(shape, SageUse::kInference); }

struct SageForward::Impl {
  Impl(const SageShape& s, const StepInputs& data) : shape(s), layers(s, data, SageUse::kInference) {
    require(s.dropout == 0, "inference has no dropout");
    graphs.resize(layers.batches().num_trees());
    for (std::size_t tree = 0; tree < graphs.size(); ++tree) {
      std::vector<StepGraph::Variant> variants;
      for (std::size_t choice = 0; choice < layers.first_rows().size(); ++choice)
        variants.push_back(
            {layers.first_rows()[choice], [this, place = SageLayers::Place{tree, choice}](cudaStream_t on) {
               layers.gather(place, on);
               layers.draw(place, on);
               layers.enqueue_first(place, on);
               for (std::size_t i = 1; i < layers.layers().size(); ++i) layers.enqueue_layer(i, place, on);
             }});
      const auto sample = [this, tree](cudaStream_t on) {
        layers.batches().sample_levels(tree, on);
        layers.batches().sample_last_hop(tree, on);
      };
      graphs[tree].emplace(
          StepGraph::Step{layers.batches().tree(tree).size_of(layers.layers().size() - 1), variants, {sample}});
    }
  }
  ~Impl() { (void)cudaDeviceSynchronize(); }  // replays use the memory
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const SageShape shape;
  SageLayers layers;
  CudaStream stream;                             // of the packing of weights
  std::vector<std::optional<StepGraph>> graphs;  // by tree
};

SageForward::SageForward(const SageShape& shape, const StepInputs& data) : impl_(std::make_unique<Impl>(shape, data)) {}
SageForward::~SageForward() = default;

void SageForward::start(std::span<const SageWeights> weights, std::span<const NodeId> order) {
  Impl& self = *impl_;
  require(weights.size() == self.layers.layers().size(), "there are weights for every layer");
  self.layers.batches().start(order);
  std::vector<PackedWeights> packed;
  for (std::size_t i = 0; i < weights.size(); ++i)
    packed.push_back({weights[i], self.layers.layers()[i].weight.get(), nullptr});
  pack_weights(packed, self.shape.activations, self.stream.get());
  self.stream.wait();
}

void SageForward::run(const StepHeader& header, const std::optional<StepHeader>& next, cudaStream_t stream) {
  const std::span<const StepHeader> ahead = next ? std::span(&*next, 1) : std::span<const StepHeader>();
  impl_->graphs[impl_->layers.batches().begin(header, ahead, stream)]->launch(stream);
}

const float* SageForward::logits() const { return impl_->layers.logits(); }
std::int64_t SageForward::logits_stride() const { return padded(impl_->shape.num_classes); }
StepCounts SageForward::counts(cudaStream_t stream) const { return impl_->layers.batches().counts(stream); }

}  // namespace salient
