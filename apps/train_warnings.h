// apps/train_warnings.h - what prevents a good first model, said in one line with the remedy.
#pragma once

#include "engine/train/trainer.h"
#include "store/dataset.h"

namespace salient {

/// Before training: classes without training nodes, and a column of features that varies more than a hundred times as
/// much as most. Only where they are there. Cost: 4,096 rows of features, and the labels of the training nodes.
void warn_of_data(const Dataset& dataset);

/// After training: the best validation accuracy, of two epochs or more, is no better than the largest class.
void warn_of_chance(const Dataset& dataset, const TrainResult& result);

}  // namespace salient
