// workbench/case/reference_program.h - a case's reference as a program of the user: inputs on its standard input, right
// answers on its standard output.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workbench/case/reference.h"

namespace salient::workbench {

/// How `reference python FILE` is started: interpreter, then the script that serves a function's answers.
/// Of the whole process; the default is python3 and no script.
void set_reference_python(std::string interpreter, const std::filesystem::path& server);

/// The command line of a case whose reference is a program, to be run in the folder of its file.
std::vector<std::string> reference_command(const Case& given);

/// The user's file of a reference in Python.
std::optional<std::filesystem::path> reference_file(const Case& given);

/// Asks the program once, for all of the problem. It stays, and is asked for the next problem, too.
///
/// A request is a line of JSON, {"case", "dims": {NAME: VALUE}, "buffers": [{"name", "type", "role", "count"}],
/// "seed"}, then the elements of all buffers that are read, as doubles. The answer is a line, {"outputs": [NAME, ...],
/// "magnitudes": [NAME, ...]}, or {"error": TEXT}, then the elements of these outputs and of these magnitudes, as
/// doubles. Without a magnitude an output has the largest absolute value of it.
///
/// @throws Error{kBadData} for an answer that is none, Error{kNoInput} where the program cannot be started
std::unique_ptr<Reference> make_program_reference(const Problem& problem);

}  // namespace salient::workbench
