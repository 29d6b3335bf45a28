// loaders/link_relations.h - what a loader of links knows of their relations.
#pragma once

#include <cstddef>

#include "sampler/link_relations.h"
#include "store/dataset.h"

namespace salient {

/// Of a split of a typed data set; of a plain one nothing. Borrows the data set.
/// @param split  kTrainLinks, kValidLinks or kTestLinks
LinkRelations link_relations_of(const Dataset& dataset, std::size_t split);

}  // namespace salient
