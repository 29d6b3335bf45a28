// store/seen_by_run.h - another data set with the classes and columns of a run.
#pragma once

#include "store/data_schema.h"
#include "store/dataset.h"

namespace salient {

/// The data set with the run's task, classes and columns, so that a model of the run's reads its features and predicts
/// the run's classes. What is as the run has it stays where it is; labels and features that are not are copied.
///
///   labels     of kMultiClass by match.class_of: a class that the run does not know has a number from num_classes on,
///              which no prediction equals. Of kMultiLabel [V, the run's labels], -1 for those that the data set lacks;
///              labels that the run does not know are left out; of kRegression likewise, NaN. All -1, or NaN, where
///              they cannot be compared.
///   features   by match.column_of, in their type and layout
///
/// The facts are the run's, class_names and column_names included, but for feature_origin.
///
/// @param match  match_schemas(run, dataset.schema()), without reasons
/// @throws Error{kNoInput} where columns are to be moved and this host has the rows of some parts alone
/// Cost:   4 bytes a node (multi-label: the run's number of labels) and the bytes of the features, where those are
///         copied; a pass over them on all cores.
Dataset seen_by_run(Dataset dataset, const DataSchema& run, const SchemaMatch& match);

}  // namespace salient
