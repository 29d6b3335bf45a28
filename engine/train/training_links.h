// engine/train/training_links.h - what a run that predicts links has in the place of nodes with labels.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/train/train_options.h"
#include "store/dataset.h"

namespace salient {

/// What training's batches are drawn around: the training nodes, or the distinct ends of the training links, ascending.
std::vector<NodeId> training_seeds(const TrainOptions& options, const Dataset& dataset);

/// Whether the links of a split are ranked among all nodes: where they have relations and come with no negatives, by a
/// decoder whose scores are products or distances of two rows, which mlp's are not.
/// @param split  kValidLinks or kTestLinks
bool ranks_all_nodes(const TrainOptions& options, const Dataset& dataset, std::size_t split);

}  // namespace salient
