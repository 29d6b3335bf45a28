// apps/label_note.h - labels that are probably not meant as they were read, and which option reads them otherwise.
#pragma once

#include <string>

#include "store/dataset.h"
#include "store/dataset_summary.h"

namespace salient::prepare {

/// One line without its end, or "": classes without a node (labels from 1 on, gaps, numbers that are no classes), and
/// rows of several labels of which each has exactly one.
/// Cost: one pass over several labels; else nothing.
std::string label_note(const Dataset& dataset, const DatasetSummary& summary);

}  // namespace salient::prepare
