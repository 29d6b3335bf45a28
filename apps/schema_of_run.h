// apps/schema_of_run.h - types and relations of the typed graph of a run, and what its batches take of them.
#pragma once

#include "engine/report/schema_report.h"
#include "engine/train/train_options.h"
#include "store/dataset.h"

namespace salient {

/// Samples a few global batches of the run itself. @param dataset  typed
SchemaReport schema_of_run(const TrainOptions& options, const Dataset& dataset, int num_ranks);

}  // namespace salient
