// apps/train_warnings.h - what prevents a good first model, said in one line with the remedy.
#pragma once

#include <cstddef>

#include "engine/plan/time_options.h"
#include "engine/train/trainer.h"
#include "sampler/sampling_rule.h"
#include "store/dataset.h"

namespace salient {

/// Before training: classes without training nodes, and a column of features that varies more than a hundred times as
/// much as most. Only where they are there. Cost: 4,096 rows of features, and the labels of the training nodes.
void warn_of_data(const Dataset& dataset);

/// Before training: a size of batches with which an epoch has fewer than ten steps, and which `better` beats.
/// @param seeds, better  of a step, over all ranks   @param better_size  `better` as the option says it
void warn_of_few_steps(std::size_t num_train, std::size_t seeds, std::size_t better, int better_size);

/// Of a typed graph, with the rule of its training: a line for each type that no batch has a node of.
void note_unreached_types(const Dataset& dataset, const SamplingRule& rule);

/// Before training: edges and nodes have times, and the run does not look at them.
void note_unused_times(const Dataset& dataset, const TimeOptions& time);

/// Before training: batches are to see the links that they predict.
void warn_of_leak(const LinkTrainOptions& options);

/// Before training: edges have features, and whether the model reads them.
void note_edge_features(const Dataset& dataset, const ModelOptions& model);

/// After training: the best validation accuracy, of two epochs or more, is no better than the largest class.
void warn_of_chance(const Dataset& dataset, const TrainResult& result);

}  // namespace salient
