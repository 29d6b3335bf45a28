// prepare/importers/label_choice.h - labels that are not meant as they stand: gaps, one-hot rows, classes with names.
#pragma once

#include <filesystem>

#include "prepare/importers/raw_graph.h"

namespace salient {

/// What a user says about the labels of a graph.
struct LabelChoice {
  bool compact = false;                 ///< the classes that occur become 0, 1, ... in their order
  bool one_hot = false;                 ///< rows of several labels of which one is 1 are classes
  std::filesystem::path class_names{};  ///< text, a name a line

  bool operator==(const LabelChoice&) const = default;
};

/// Applies one_hot, compact and class_names in this order. Compacted classes keep their names, which without a list
/// are their old numbers. In one-hot rows a row without a 1 is unlabelled.
///
/// @param graph  its labels, num_classes and class_names are set, its split is not drawn
/// @throws Error{kBadData}: labels that are no one-hot rows, several labels to compact, another number of names;
///         Error{kNoInput}, Error{kIo} of class_names
void apply(const LabelChoice& choice, RawGraph& graph);

}  // namespace salient
