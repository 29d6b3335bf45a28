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

/// Runs `command`, which runs the candidate in its own process, under memcheck, racecheck, initcheck and synccheck.
/// The sanitizers do not see into the referee's workers: these are forked, and have no environment.
/// @throws Error{kNoInput} without compute-sanitizer
std::optional<Finding> sanitize_on_cuda(const std::vector<std::string>& command);

enum class WhichProblems { kSmall, kPublic };

/// The candidate once on every problem of up to 16 MiB, or on every public shape, on the first GPU, in this process and
/// without a judgement. Each buffer has memory of its own and of its size, so that a sanitizer sees accesses beyond it.
///
/// @param binary  the compiled candidate   @return the number of runs
/// @throws Error{kNoDevice}, Error{kInternal} for errors of the device
std::size_t run_in_this_process(const Candidate& candidate, const Case& given, const std::filesystem::path& binary,
                                WhichProblems which, std::uint64_t seed);

}  // namespace salient::workbench
