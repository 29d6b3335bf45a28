// workbench/referee/process.h - runs another program with a time limit, its input given and its output caught.
#pragma once

#include <string>
#include <vector>

namespace salient::workbench {

struct ProcessResult {
  int exit_code = 0;  ///< 128 + signal if one ended it
  bool timed_out = false;
  bool cut = false;      ///< more output than allowed; the rest was dropped
  std::string output{};  ///< of standard output
  std::string errors{};  ///< of standard error
};

struct ProcessLimits {
  double seconds = 60;
  std::size_t output_bytes = std::size_t{4} << 20;
  bool ends_when_interrupted = false;  ///< Ctrl-C and the like are as the time limit
};

/// Runs `command`[0], found by PATH, in a process group of its own, and waits until it ends. At the time limit the
/// group is
/// killed.
///
/// @throws Error{kNoInput} if the program cannot be started, Error{kIo}
ProcessResult run_process(const std::vector<std::string>& command, const std::string& input, ProcessLimits limits);

/// `text` without the name of `folder`: what compilers say of files in it, the same on every machine.
std::string without_folder(std::string text, const std::string& folder);

}  // namespace salient::workbench
