// workbench/backend/host_wrapper.h - the C++ round a candidate of the host back end that makes it callable.
#pragma once

#include <string>

#include "workbench/case/case.h"
#include "workbench/referee/candidate.h"

namespace salient::workbench {

/// Source for the preprocessor: the headers of the candidate, its parameters as macros, then "candidate.cpp". No macro
/// of a candidate reaches a header.
std::string host_prologue(const Candidate& candidate);

/// Source to stand below the preprocessed candidate, where there are no macros: checks the type of every launched
/// function and defines `extern "C" void salient_call_NAME(const WorkbenchBlock*, void* const* arguments)` for each.
std::string host_wrapper(const Candidate& candidate, const Case& given);

}  // namespace salient::workbench
