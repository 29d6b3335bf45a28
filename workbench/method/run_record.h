// workbench/method/run_record.h - the first record of a ledger: what was to be run, so that it can be run again.
#pragma once

#include "workbench/ledger/ledger.h"
#include "workbench/method/method.h"

namespace salient::workbench {

Json json_of(const MethodOptions& options);
/// @throws Error{kBadData}
MethodOptions method_options_of(const Json& json);

}  // namespace salient::workbench
