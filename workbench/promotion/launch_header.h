// workbench/promotion/launch_header.h - a candidate's launches as a C++ header, for code that uses the kernel.
#pragma once

#include <string>

#include "workbench/case/case.h"
#include "workbench/referee/candidate.h"

namespace salient::workbench {

/// A header without dependencies: parameters as constants, and a function that gives every launch for given sizes.
///
/// @param tried  of Assessment: the function refuses larger sizes
std::string launch_header(const Candidate& candidate, const Case& given, const Variables& tried);

}  // namespace salient::workbench
