// apps/advice.h - what to do about an error, in the options of the programs: the one table from topics to advice.
#pragma once

#include "core/error.h"

namespace salient {

/// Each is an `Advice` for report_current_exception() and run_ranks(): one clause without a full stop, or "".
const char* train_advice(ErrorKind kind, Topic topic);
const char* infer_advice(ErrorKind kind, Topic topic);
const char* prepare_advice(ErrorKind kind, Topic topic);
const char* serve_advice(ErrorKind kind, Topic topic);
const char* doctor_advice(ErrorKind kind, Topic topic);

}  // namespace salient
