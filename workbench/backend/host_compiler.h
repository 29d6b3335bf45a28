// workbench/backend/host_compiler.h - a candidate of the host back end as a shared library, judged at every stage.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "workbench/case/case.h"
#include "workbench/referee/candidate.h"
#include "workbench/referee/process.h"
#include "workbench/referee/static_gate.h"
#include "workbench/referee/verdict.h"

namespace salient::workbench {

/// Of every run of g++. A busy machine gives little of its time: the limit is the processor's.
inline constexpr ProcessLimits kHostCompilerLimits{.seconds = 300,
                                                   .cpu_seconds = 30,
                                                   .memory_bytes = std::size_t{2} << 30,
                                                   .file_bytes = std::size_t{128} << 20,
                                                   .environment = Environment::kTools};

const std::vector<std::string>& host_flags();  ///< of the compiler, for kernels that are timed

/// How an object becomes a library. Without start files: nothing of it runs before it is called.
std::vector<std::string> link_command(const std::string& object, const std::string& library);

/// Preprocesses the candidate, judges the tokens, compiles them as they were judged, links without start files, and
/// judges the library.
///
/// @param kernels  folder of workbench_kernel.h   @param library  the file to be made, in a folder for all other files
/// @return  why there is none, or nothing   @throws Error{kNoInput} without a compiler, Error{kIo}
std::optional<Finding> compile_on_host(const Candidate& candidate, const Case& given,
                                       const std::filesystem::path& kernels, const std::filesystem::path& library,
                                       LibraryKind kind);

}  // namespace salient::workbench
