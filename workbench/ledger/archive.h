// workbench/ledger/archive.h - recorded runs in one compressed file: how workbench/results keeps them.
//
// FOLDER/runs.tar.xz          NAME/ledger.jsonl, NAME/best.json and NAME/objects/HASH of every run, and nothing else
// FOLDER/runs.tar.xz.sha256   its hash, as sha256sum writes it
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace salient::workbench {

inline constexpr const char* kArchiveName = "runs.tar.xz";

/// The regular files of a tar archive (POSIX ustar) that holds recorded runs, by their path.
///
/// @param name  for messages   @throws Error{kBadData} "NAME: rule" for anything that is no file of a run, whatever the
/// path, a path that comes twice, a header that was changed, or an end that is missing
std::map<std::string, std::string, std::less<>> parse_run_archive(std::string_view tar, const std::string& name);

/// Unpacked in memory, a few MB, by the program `xz`.
class RunArchive {
 public:
  /// Of a folder with an archive; the hash is compared before anything is unpacked.
  /// @throws Error{kNoInput} without archive, hash or `xz`, Error{kBadData} for another hash, and for what
  /// parse_run_archive refuses
  explicit RunArchive(const std::filesystem::path& folder);

  std::vector<std::string> runs() const;  ///< names, in their order
  /// Writes the files of a run below `folder`/`run`. @return that folder
  /// @throws Error{kNoInput} with the names that there are, Error{kIo}
  std::filesystem::path unpack(const std::string& run, const std::filesystem::path& folder) const;

 private:
  std::filesystem::path path_;
  std::map<std::string, std::string, std::less<>> files_;
};

}  // namespace salient::workbench
