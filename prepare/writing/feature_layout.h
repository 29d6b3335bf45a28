// prepare/writing/feature_layout.h - whether a store keeps feature rows dense or sparse, and the way between the two.
#pragma once

#include <optional>

#include "prepare/importers/memory_limit.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// `wanted`, or else: dense rows stay dense; sparse ones of at least 1,000 columns stay sparse where that takes at most
/// a quarter of the bytes.
FeatureLayout layout_for(const RawFeatures& features, std::optional<FeatureLayout> wanted);

/// The same rows in `layout`; zeros of either sign are left out of sparse ones.
/// @throws Error{kHostMemory} as MemoryLimit::check()
RawFeatures in_layout(RawFeatures features, FeatureLayout layout, const MemoryLimit& memory);

}  // namespace salient
