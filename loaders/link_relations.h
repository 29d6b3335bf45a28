// loaders/link_relations.h - what a loader of links knows of their relations.
#pragma once

#include <cstdint>
#include <span>

#include "sampler/link_relations.h"
#include "store/dataset.h"

namespace salient {

/// Of links of a typed data set; of a plain one nothing. A relation and its reverse are each other's: that which says
/// of which one it is the reverse, else "a:x:b" and "b:rev_x:a" where both were given.
/// @param of_links  [n] relations of the links; borrowed
LinkRelations link_relations_of(const Dataset& dataset, std::span<const std::uint16_t> of_links);

}  // namespace salient
