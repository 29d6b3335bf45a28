// engine/train/class_weights.h - how much each class counts in the loss.
#pragma once

#include <string>
#include <vector>

#include "engine/comm/communicator.h"
#include "store/dataset.h"

namespace salient {

/// Words of class_weights_of(); any other text is the path of a file.
inline constexpr char kNoClassWeights[] = "none";
inline constexpr char kBalancedClasses[] = "balanced";

/// [num_classes], or empty: all count alike, as kNoClassWeights says. kBalancedClasses: of the n training nodes, those
/// of a class count n / (classes that have some x their number), as scikit-learn's "balanced"; a class without any
/// counts 1. A file has a line `class,weight` a class, by its name or its number, a first line of other words is a
/// header, and a class without a line counts 1.
///
/// @throws Error{kUsage} for a data set of another task than one class a node; Error{kNoInput}, Error{kIo};
///         Error{kBadData} naming file and line: no known class, a class twice, no number of 0 or more; all are 0
std::vector<float> class_weights_of(const std::string& said, const Dataset& dataset);

/// The same on all ranks, as rank 0 reads the file. Collective. @throws RankError of the same kinds
std::vector<float> class_weights_on_all_ranks(Communicator& comm, const std::string& said, const Dataset& dataset);

/// "'retail' 0.61, 'premium' 2.3 and 4 more"
std::string class_weights_text(const std::vector<float>& weights, const Dataset& dataset);

}  // namespace salient
