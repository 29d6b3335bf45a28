// apps/new_node_batch.h - a batch around nodes that the data set lacks, as tensors.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <span>

#include "apps/new_nodes.h"
#include "loaders/batch.h"
#include "models/batch_view.h"
#include "models/describe/model_options.h"
#include "sampler/draws.h"
#include "sampler/mfg.h"
#include "sampler/sampling_rule.h"
#include "store/dataset.h"

namespace salient {

/// @throws Error{kUsage} where the model reads features of edges, which new nodes' edges do not have
void require_plain_edges(const ModelOptions& model, const Dataset& dataset);

/// Owns what its view borrows.
class NewNodeBatch {
 public:
  struct Sampling {
    SamplingRule rule{};
    BatchKey key{};
    Degrees degrees = Degrees::kOfNoNode;
    std::int64_t max_edges = 0;  ///< 0 = any number
  };

  /// Samples the neighbourhoods of all new nodes, and gathers their features: of sparse rows every value. The lists do
  /// not know of each other, and each has the neighbourhoods that it has alone.
  ///
  /// @param lists  as NewNodes says, with rows of ids below V + num_nodes(); V and all of them together below 2^32
  /// @throws Error{kUsage} for nodes that break these rules, or for more edges; for the latter after their number only
  /// Cost: that of the reference sampler, about 1 us an edge: for requests of a few nodes.
  NewNodeBatch(const Dataset& dataset, std::span<const NewNodes> lists, const Sampling& sampling);

  /// The same of some nodes of one list. @param seeds  distinct places in it, from 0
  NewNodeBatch(const Dataset& dataset, const NewNodes& list, std::span<const NodeId> seeds, const Sampling& sampling);

  /// @param device  to which the parts are copied
  BatchView view(c10::Device device) const;

 private:
  using DrawnAs = std::function<NodeId(NodeId)>;
  void sample(const Dataset& dataset, const NewNodes& nodes, std::span<const NodeId> seeds, const Sampling& sampling,
              const DrawnAs& drawn_as);
  void gather(const Dataset& dataset, const NewNodes& nodes, Degrees degrees);

  Mfg mfg_;
  at::Tensor x_, degrees_;
};

}  // namespace salient
