// engine/report/run_directory.h - the folder a run leaves behind: its configuration, environment, figures and log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace salient {

/// Names and what is said of them; numbers become JSON numbers, with all their digits.
using Facts = std::map<std::string, std::variant<std::string, std::int64_t, double>>;

/// What run.json says of a run, beside its configuration.
struct RunDescription {
  std::string program{};                                        ///< "salient-train 0.1.0"
  std::map<std::string, std::string> versions{};                ///< library -> version found at run time
  Facts machine{};                                              ///< host, cpu, cores, gpu
  std::vector<std::map<std::string, std::string>> placement{};  ///< of each rank: host, device, cores, workers
  Facts dataset{};                                              ///< name, source (says "synthetic"), fingerprint, sizes
  Facts result{};                                               ///< filled at the end
};

/// The time now, as strftime() formats it.
std::string local_time(const char* pattern);

/// `base`, or where that exists base-2, base-3, ...
std::filesystem::path unused_name(const std::filesystem::path& base);

/// Whether make_run_directory() would take `wanted`, without making it. @throws what it throws.
void check_run_directory(const std::filesystem::path& wanted, bool is_resumed);

/// Creates the folder, or takes over the one of a resumed run.
///
/// @param wanted      --out; empty = runs/NAME-TIME, with a number appended when that exists.
/// @param is_resumed  the folder must exist; otherwise it must be absent or empty.
/// @throws Error{kUsage} for a folder that holds something else; Error{kNoInput} for one to resume that is not there;
///         Error{kIo} where nothing may be written.
std::filesystem::path make_run_directory(const std::filesystem::path& wanted, const std::string& name, bool is_resumed);

/// Keeps a run directory to one program, for as long as it lives or the program does. Where the file system knows no locks
/// it does nothing.
class RunLock {
 public:
  /// @throws Error{kUsage} if another program has it.
  explicit RunLock(const std::filesystem::path& directory);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int descriptor_;  // of the directory; negative = none
};

/// Whether a RunLock holds it, on this machine or another one that shares its locks; true where that cannot be known.
bool is_being_written(const std::filesystem::path& directory);

/// Writes a small file beside `path` and renames it, so that a reader sees the old or the new text. @throws Error{kIo}.
void replace_text_file(const std::filesystem::path& path, const std::string& text);

/// Writes DIR/run.json. @param status  "running" | "finished" | "interrupted" | "failed: REASON".
void write_run_json(const std::filesystem::path& directory, const RunDescription& description,
                    const std::string& status);

}  // namespace salient
