// workbench/promotion/sanitize.h - candidates under sanitizers, before they may leave the workbench.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "workbench/case/problem.h"
#include "workbench/referee/candidate.h"
#include "workbench/referee/verdict.h"

namespace salient::workbench {

/// Compiles the candidate with AddressSanitizer and UBSan into a program of its own and runs it on every problem, each
/// buffer in
/// memory of exactly its size: reads beyond a buffer show, too.
///
/// @param kernels  folder of workbench_kernel.h   @param work  an existing folder
/// @return  what was found, or nothing   @throws Error{kNoInput} without a compiler
std::optional<Finding> sanitize_on_host(const Candidate& candidate, const Case& given,
                                        const std::vector<ProblemSpec>& problems, const std::filesystem::path& kernels,
                                        const std::filesystem::path& work);

/// Runs `check` (a command line that ends with 0 for a correct candidate) under memcheck, racecheck, initcheck and
/// synccheck.
/// @throws Error{kNoInput} without compute-sanitizer
std::optional<Finding> sanitize_on_cuda(const std::vector<std::string>& check);

}  // namespace salient::workbench
