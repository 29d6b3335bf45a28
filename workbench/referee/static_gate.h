// workbench/referee/static_gate.h - what a candidate's text, object file or PTX must not contain.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "workbench/case/case.h"
#include "workbench/referee/candidate.h"

namespace salient::workbench {

// Each returns the reason to reject, one line, or nothing.

/// Includes off the list, inline assembly of the host, attributes, pragmas, pasted tokens and other ways round this
/// gate.
std::optional<std::string> reject_text(const std::string& source, BackendKind backend);

/// Compiled files of more than 64 MiB, which nothing here reads.
std::optional<std::string> reject_size(const std::filesystem::path& compiled);

/// Writable memory (a planted cache), code that runs at load time, calls outside of the arithmetic library.
/// @throws Error{kBadData} if the file is no ELF object
std::optional<std::string> reject_object(const std::filesystem::path& object);

/// Module variables above one byte, calls of printf, malloc and the like, clocks, sleeps, entries whose parameters do
/// not
/// fit. @param num_parameters  64-bit parameters that each launched entry must have
std::optional<std::string> reject_ptx(const std::string& ptx, const Candidate& candidate, std::size_t num_parameters);

}  // namespace salient::workbench
