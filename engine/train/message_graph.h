// engine/train/message_graph.h - the graph that the test sees where validation links are messages, too.
#pragma once

#include "store/dataset.h"

namespace salient {

/// The data set with the validation links among its entries, in both directions where it is symmetric, each once; all
/// else is borrowed or shared.
/// @param dataset  plain, with links, without weights, times and features of edges; outlives the result's spans
/// Memory: another array of entries and one of rows    Cost: one pass, beside sorting the validation links
Dataset with_validation_messages(const Dataset& dataset);

}  // namespace salient
