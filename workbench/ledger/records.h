// workbench/ledger/records.h - assessments as JSON and back, so that a recorded run can be decided again.
#pragma once

#include "workbench/ledger/ledger.h"
#include "workbench/referee/referee.h"

namespace salient::workbench {

/// Without the log's text. Times in seconds, all samples.
Json json_of(const Assessment& assessment);

/// @throws Error{kBadData} if a field is missing or of another type
Assessment assessment_of(const Json& json);

Json json_of(const Timing& timing);

}  // namespace salient::workbench
