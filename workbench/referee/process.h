// workbench/referee/process.h - runs another program with a time limit, its input given and its output caught.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace salient::workbench {

struct ProcessResult {
  int exit_code = 0;  ///< 128 + signal if one ended it
  bool timed_out = false;
  bool cut = false;      ///< more output than allowed; the rest was dropped
  std::string output{};  ///< of standard output
  std::string errors{};  ///< of standard error
};

/// What a program is told of the environment of this one.
enum class Environment : std::uint8_t {
  kWhole,  ///< all, for a user's own commands
  kTools,  ///< what compilers and profilers need to find their files; messages in English
  kNone,
};

struct ProcessLimits {
  double seconds = 60;
  std::size_t output_bytes = std::size_t{4} << 20;
  bool ends_when_interrupted = false;  ///< Ctrl-C and the like are as the time limit
  // Of each of its processes; 0 = as this one's.
  unsigned cpu_seconds = 0;
  std::size_t memory_bytes = 0;  ///< address space
  std::size_t file_bytes = 0;    ///< of every file that it writes
  Environment environment = Environment::kTools;
  std::string_view scratch{};  ///< folder for its temporary files, if any
};

/// Runs `command`[0], found by PATH, in a process group of its own, and waits until it ends. At the time limit the
/// group is killed; it also ends when this process does. No descriptor but the three streams is handed down.
///
/// @throws Error{kNoInput} if the program cannot be started, Error{kIo}
ProcessResult run_process(const std::vector<std::string>& command, const std::string& input,
                          const ProcessLimits& limits);

/// Of a program that failed: which limit it met, as "more than 2 GiB of memory".
std::optional<std::string> limit_met(const ProcessResult& result, const ProcessLimits& limits);

/// `text` without the name of `folder`: what compilers say of files in it, the same on every machine.
std::string without_folder(std::string text, const std::string& folder);

}  // namespace salient::workbench
