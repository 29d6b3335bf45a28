// apps/trained_on.cpp - see trained_on.h.
#include "apps/trained_on.h"

#include "core/console/log.h"
#include "core/error.h"

namespace salient {

void check_origin(const CheckpointOrigin& origin, const Dataset& dataset, bool is_other_data_meant) {
  if (origin.dataset_fingerprint == dataset.fingerprint) return;
  if (!is_other_data_meant)
    fail(ErrorKind::kBadData, "the data set " + dataset.name +
                                  " is not the one that the run was trained on (its checksum is " +
                                  dataset.fingerprint + ", the run's " + origin.dataset_fingerprint +
                                  "); name it with --dataset if that is meant");
  log_warning("the model was trained on " + origin.dataset_name + ", not on this data set");
}

}  // namespace salient
