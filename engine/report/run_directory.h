// engine/report/run_directory.h - the folder of a run: its configuration, environment, figures and log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/host/descriptor.h"

namespace salient {

/// Values by name; numbers become JSON numbers with all their digits.
using Facts = std::map<std::string, std::variant<std::string, std::int64_t, double>>;

/// The content of run.json.
struct RunDescription {
  std::string program{};                                        ///< "salient-train 0.1.0"
  std::map<std::string, std::string> versions{};                ///< library -> version found at run time
  Facts machine{};                                              ///< host, cpu, cores, gpu
  std::vector<std::map<std::string, std::string>> placement{};  ///< of each rank: host, device, cores, workers
  Facts resolved{};                                             ///< what options left open came to on this machine
  Facts model{};                                                ///< parameters: how many values ranks sum
  Facts dataset{};                                              ///< name, source (says "synthetic"), fingerprint, sizes
  std::vector<std::string> changed{};                           ///< names of options that are not at their defaults
  Facts result{};                                               ///< filled at the end
};

/// The time now, as strftime() formats it.
std::string local_time(const char* pattern);

/// `base`, or where that exists base-2, base-3, ...
std::filesystem::path unused_name(const std::filesystem::path& base);

/// Checks all rules of make_run_directory() without making anything. @throws as make_run_directory().
void check_run_directory(const std::filesystem::path& wanted, bool is_resumed);

/// Creates the folder, or takes over the one of a resumed run.
///
/// @param wanted      empty = runs/NAME-TIME, with a number appended when that exists: each call makes another one.
/// @param is_resumed  the folder must exist; otherwise it must be absent or empty.
/// @throws Error{kUsage} for a folder that holds something else; Error{kNoInput} for one to resume that is not there;
///         Error{kIo} where nothing may be written.
std::filesystem::path make_run_directory(const std::filesystem::path& wanted, const std::string& name, bool is_resumed);

/// Reserves a run directory for one program until it is destroyed or the program ends. Does nothing on a file system
/// without locks.
class RunLock {
 public:
  /// @throws Error{kUsage} if another program has it.
  explicit RunLock(const std::filesystem::path& directory);

 private:
  Descriptor directory_;  // none where it cannot be opened
};

/// Whether a RunLock holds it, on this machine or another one that shares its locks; true where that is unknown.
bool is_being_written(const std::filesystem::path& directory);

/// Writes DIR/run.json. @param status  "running" | "finished" | "interrupted" | "failed: REASON".
void write_run_json(const std::filesystem::path& directory, const RunDescription& description,
                    const std::string& status);

/// Turns "running" in DIR/run.json into "failed" without needing space, for when the disk is full.
void mark_as_failed(const std::filesystem::path& directory) noexcept;

}  // namespace salient
