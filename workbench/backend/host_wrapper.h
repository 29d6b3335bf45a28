// workbench/backend/host_wrapper.h - the C++ below a candidate of the host back end that makes it callable.
#pragma once

#include <string>

#include "workbench/case/case.h"
#include "workbench/referee/candidate.h"

namespace salient::workbench {

/// Source that includes "candidate.cpp", checks the type of every launched function and defines
/// `extern "C" void salient_call_NAME(const WorkbenchBlock*, void* const* arguments)` for each.
std::string host_wrapper(const Candidate& candidate, const Case& given);

}  // namespace salient::workbench
