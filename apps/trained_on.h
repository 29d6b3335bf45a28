// apps/trained_on.h - the data that a run's weights are used on, beside the data that they were trained on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"
#include "store/data_schema.h"
#include "store/dataset.h"

namespace salient {

/// Which weights, and what the user said of the data.
struct RunOnData {
  const std::filesystem::path& run;
  const std::string& checkpoint;  ///< as find_checkpoint()
  bool is_other_data_meant;       ///< the data set was named beside the run
  FeatureMatch features;          ///< how columns of another data set are found
};

struct FittedData {
  Dataset dataset;                             ///< in the run's classes and columns
  std::vector<std::string> unknown_classes{};  ///< class num_classes + i, which the run does not know; their names
};

/// The weights may be used on other data, as the log says with all that differs, but not on data that has changed
/// unnoticed. Only rank 0 needs to see the run; the log is rank 0's. Collective.
/// @throws RankError{kNoInput}; RankError{kBadData} for data that is neither the run's nor named, and for data that
///         does not fit the run: match_schemas() has the rules
FittedData fit_to_run(Communicator& comm, const RunOnData& use, Dataset dataset);

}  // namespace salient
