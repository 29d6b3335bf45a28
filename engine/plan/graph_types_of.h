// engine/plan/graph_types_of.h - what a model knows of a data set.
#pragma once

#include "loaders/batch.h"
#include "models/describe/graph_types.h"
#include "models/describe/model_options.h"
#include "store/dataset.h"

namespace salient {

GraphTypes graph_types_of(const GraphSchema& schema);

/// `model` with the widths, types and relations of the data set, and where it reads features of edges with theirs.
ModelOptions fitted_to(ModelOptions model, const Dataset& dataset);

/// What batches for the model carry of entries.
EntryParts entry_parts_for(const ModelOptions& model, const Dataset& dataset);

/// @throws Error{kUsage} naming the data set, where the model is of plain graphs and this is a typed one, or the other
///         way round, the models that suit it are named; where it reads features or weights that edges do not have
void require_model_of_graph(const ModelOptions& model, const Dataset& dataset);

}  // namespace salient
