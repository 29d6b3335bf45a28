// apps/doctor/epoch_estimate.h - the time of an epoch that follows from a machine's ceilings.
#pragma once

#include <vector>

#include "apps/doctor/ceilings.h"
#include "store/dataset.h"

namespace salient::doctor {

/// GraphSAGE with the defaults of salient-train; of a typed graph rgcn.
struct EpochCase {
  std::vector<int> fanouts = {15, 10, 5};
  int batch_size = 1024;
  int hidden = 256;
  int num_ranks = 1;
};

/// Means over the sampled batches.
struct BatchWork {
  double nodes = 0, edges = 0;
  double row_bytes = 0;         ///< of the features of its nodes
  double slab_bytes = 0;        ///< what is copied to a GPU
  double learned_bytes = 0;     ///< of its learned rows, which are parameters
  double operations = 0;        ///< multiplications and additions of forward and backward
  double aggregated_bytes = 0;  ///< rows that are summed up, forward and backward
};

/// Samples three batches of training nodes. Of a typed graph products are those of each relation's rows that have
/// entries, and of each type's; rows of features are as wide as those of their type, learned ones as hidden layers.
BatchWork work_of_batches(const Dataset& dataset, const EpochCase& epoch);

/// Seconds. On a GPU preparing and copying overlap and the model's time is not known: the epoch takes no less than the
/// slower of the two. On the cores everything adds up.
struct EpochEstimate {
  std::int64_t steps = 0;
  double sampling = 0, gathering = 0, transfer = 0, computing = 0, exchange = 0;
  double total = 0;
};

/// sampling = edges / random reads; gathering = bytes of rows / random rows; transfer = bytes of a batch / pinned copy;
/// computing = operations / operations of the cores + aggregated bytes / memory copies; exchange = bytes of the
/// gradients / all-reduce, of learned rows those of a batch; each times the steps.
EpochEstimate estimate_epoch(const Dataset& dataset, const EpochCase& epoch, const Ceilings& ceilings);

}  // namespace salient::doctor
