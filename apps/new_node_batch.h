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

/// @throws Error{kUsage} where the model reads features or weights of edges, which new nodes' edges do not have
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

  /// Samples the neighbourhoods of all new nodes that are predicted, and gathers features: of sparse rows every value.
  /// The lists do not know of each other, and each has the neighbourhoods that it has alone.
  ///
  /// @param lists  as NewNodes says, with rows of ids below V + num_nodes(); V and all of them together below 2^32; of
  ///               a typed graph with relations' fanouts in the rule where it has such
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
  void sample_slots(const Dataset& dataset, const NewNodes& nodes, std::span<const NodeId> seeds,
                    const Sampling& sampling, const DrawnAs& drawn_as);
  void gather(const Dataset& dataset, const NewNodes& nodes, Degrees degrees);
  void gather_types(const Dataset& dataset, const NewNodes& nodes);
  void add_types(BatchView& view, c10::Device device) const;

  /// What a batch of a typed graph has beside the plain one.
  struct TypedParts {
    struct Hop {
      std::vector<LocalId> row_dst{}, relation_rows{};
    };
    struct Type {
      std::vector<LocalId> nodes{};  ///< numbers of its nodes
      at::Tensor x{};
      bool has_unknown = false;  ///< of a type without features: new nodes are among them
    };
    MfgShape shape{};
    std::vector<Hop> hops{};
    std::vector<Type> types{};
  };

  Mfg mfg_;
  at::Tensor x_, degrees_;
  TypedParts typed_;
};

}  // namespace salient
