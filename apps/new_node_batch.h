// apps/new_node_batch.h - a batch around nodes that the data set lacks, as tensors.
#pragma once

#include <c10/core/Device.h>

#include <span>

#include "apps/new_nodes.h"
#include "models/batch_view.h"
#include "sampler/draws.h"
#include "sampler/mfg.h"
#include "store/dataset.h"

namespace salient {

/// Owns what its view borrows.
class NewNodeBatch {
 public:
  /// Samples the neighbourhoods of all new nodes, and gathers their features: of sparse rows every value.
  ///
  /// @param nodes  as NewNodes says, with rows of ids below V + num_nodes(); V and they together below 2^32
  /// @param key    of the draws   @throws Error{kUsage} for nodes that break these rules
  /// Cost: that of the reference sampler, about 1 us an edge: for requests of a few nodes.
  NewNodeBatch(const Dataset& dataset, const NewNodes& nodes, std::span<const int> fanouts, Replacement replacement,
               BatchKey key);

  /// With degrees. @param device  to which the parts are copied
  BatchView view(c10::Device device) const;

 private:
  Mfg mfg_;
  at::Tensor x_, degrees_;
};

}  // namespace salient
