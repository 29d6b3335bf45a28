// core/files/staged_directory.h - a folder of results that is complete under its name, or not there at all.
//
// By hand: no library publishes a folder by one rename and clears what a killed writer left.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace salient {

enum class ReplaceExisting { kRefuse, kReplace };

/// What an interrupted writer of `out` left beside it: OUT.tmp-HOST-PID and OUT.old-PID folders.
std::vector<std::filesystem::path> leftovers_of(const std::filesystem::path& out);

/// Gives the folder `staged` the name `target` beside it, fsyncs the parent, and removes what had the name before. The
/// two are exchanged, so that a folder always has the name. Where the file system cannot exchange, there is a moment
/// without, and a crash in it leaves the old folder as TARGET.old-PID.
/// @return  why the old folder is still there; empty when it is gone
/// @throws Error{kIo}
std::string replace_directory(const std::filesystem::path& staged, const std::filesystem::path& target);

/// A sibling folder OUT.tmp-HOST-PID that becomes OUT by one rename. The files in it are fsynced by their writers.
/// Where OUT is a link, all this happens beside the folder that it leads to, and the link stays.
///
/// A crash leaves the .tmp- folder and never half a result under OUT. Destroyed without publish(): removes the folder.
class StagedDirectory {
 public:
  /// @param replace  kReplace swaps an existing OUT away at the end, if it holds `marker`: a mistyped name must not
  ///                 delete a home directory.
  /// @throws Error{kUsage} if OUT is not empty and may not be replaced (kOutputExists, kOutputForeign), or if it never
  ///         can be: a mount point, the working directory or one above it, a link to nowhere; Error{kIo}.
  StagedDirectory(const std::filesystem::path& out, ReplaceExisting replace, const std::filesystem::path& marker);
  ~StagedDirectory();
  StagedDirectory(const StagedDirectory&) = delete;
  StagedDirectory& operator=(const StagedDirectory&) = delete;

  const std::filesystem::path& path() const { return staging_; }

  /// fsyncs the folder, gives it its name (exchanging it with an existing OUT, which is then removed), fsyncs the
  /// parent. Only what may be replaced and holds `marker` at this moment is removed, once no program has
  /// try_lock_folder() of it.
  /// @throws Error{kUsage} if something else got the name OUT in the meantime: it stays, and so does the .tmp- folder,
  ///         which the error names; Error{kIo}; Interrupted, while it waits.
  void publish();

 private:
  std::filesystem::path out_, staging_, marker_;
  ReplaceExisting replace_;
  bool is_published_ = false;
};

}  // namespace salient
