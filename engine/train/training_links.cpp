// engine/train/training_links.cpp - see training_links.h.
#include "engine/train/training_links.h"

#include <algorithm>
#include <span>

#include "store/link_negatives.h"

namespace salient {

std::vector<NodeId> training_seeds(const TrainOptions& options, const Dataset& dataset) {
  if (!predicts_links(options)) return {dataset.train.begin(), dataset.train.end()};
  const std::span<const NodeId> ends = dataset.links[kTrainLinks].ends;
  std::vector<NodeId> nodes(ends.begin(), ends.end());
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

bool ranks_all_nodes(const TrainOptions& options, const Dataset& dataset, std::size_t split) {
  return dataset.types.is_typed() && options.links.decoder != DecoderKind::kMlp &&
         open_negatives(dataset, split).of_link() == 0;
}

}  // namespace salient
