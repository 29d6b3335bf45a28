// workbench/app/named_run.h - a recorded run as a user names it: by its folder, or by its name in an archive of runs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "workbench/app/bench_setup.h"

namespace salient::workbench {

/// Reads alone: what an archive holds is unpacked into a folder that lives as long as this.
class NamedRun {
 public:
  /// @param word  a folder; NAME, of workbench/results; or FOLDER/NAME, where FOLDER has an archive
  /// @throws what RunArchive throws; a folder that is not there is left to whoever reads it
  NamedRun(const std::string& word, const KernelOptions& options);

  const std::filesystem::path& folder() const { return folder_; }
  bool is_unpacked() const { return unpacked_.has_value(); }

 private:
  std::optional<WorkFolder> unpacked_{};
  std::filesystem::path folder_;
};

}  // namespace salient::workbench
