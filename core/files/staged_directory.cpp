// core/files/staged_directory.cpp - see staged_directory.h.
#include "core/files/staged_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/folder_lock.h"
#include "core/host/machine.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// The folder that `out` names, without a slash at the end. Links are followed, to the disk that is meant.
fs::path target_of(const fs::path& out) {
  std::error_code error;
  const fs::path absolute = fs::absolute(out);
  fs::path target = fs::weakly_canonical(absolute, error);
  if (error) target = absolute.lexically_normal();
  return target.has_filename() ? target : target.parent_path();
}

/// The folder `path`, which is there, or one that it lies in, is `target`, by whatever name.
bool lies_in(fs::path path, const fs::path& target) {
  for (std::error_code ignored; !fs::equivalent(path, target, ignored); path = path.parent_path())
    if (!path.has_relative_path()) return false;
  return true;
}

/// Bind mounts of the parent's own file system are known to kernels since 5.8 alone.
bool is_mount_point(const fs::path& folder) {
  struct statx own {
  }, parent{};
  if (statx(AT_FDCWD, folder.c_str(), AT_SYMLINK_NOFOLLOW, 0, &own) != 0) return false;
  if ((own.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0) return (own.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  if (statx(AT_FDCWD, folder.parent_path().c_str(), 0, 0, &parent) != 0) return false;
  return own.stx_dev_major != parent.stx_dev_major || own.stx_dev_minor != parent.stx_dev_minor;
}

/// Refuses, before the work and not after it, what cannot or must not give its name to another folder.
void require_replaceable(const fs::path& target, const fs::path& out) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(target, error)))
    fail(ErrorKind::kUsage, out.string() + " is a link that leads to no folder; make that folder, or remove the link");
  const auto refuse = [&](const std::string& what) {
    fail(ErrorKind::kUsage, out.string() + " is " + what +
                                " and cannot be replaced; name a new folder inside it: " + (out / "NAME").string());
  };
  const fs::path working_directory = fs::current_path(error);
  if (!error && lies_in(working_directory, target)) refuse("the working directory, or holds it,");
  if (is_mount_point(target)) refuse("a mount point");
}

fs::path beside(const fs::path& path, const std::string& suffix) {
  return path.parent_path() / (path.filename().string() + suffix);
}

void rename_or_fail(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail_with_errno(to, "rename a folder to this name");
}

/// Renames a folder to a free name, or to that of an empty folder. @return  false when something else has the name
bool take_free_name(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return true;
  if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) fail_with_errno(to, "rename a folder to this name");
  return false;
}

/// Gives `staged` the name of `target`. @return the name that what was there has now
fs::path exchange(const fs::path& staged, const fs::path& target) {
  if (renameat2(AT_FDCWD, staged.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return staged;
  fs::path old = beside(target, ".old-" + std::to_string(getpid()));
  rename_or_fail(target, old);
  rename_or_fail(staged, target);
  return old;
}

/// @param old  what had the name before; empty = nothing
void fsync_name_of(const fs::path& target, const fs::path& old) {
  try {
    fsync_directory(target.parent_path());
  } catch (const Error& error) {
    const std::string kept = old.empty() ? "" : "; what it replaced is kept as " + old.string();
    fail(error.kind(),
         target.string() + " is whole and has its name, which a power failure may still undo: " + error.what() + kept);
  }
}

/// @return  why it is still there; empty when it is gone
std::string remove_folder(const fs::path& old) {
  std::error_code error;
  fs::remove_all(old, error);
  return error ? old.string() + ": the replaced folder cannot be removed: " + error.message() : "";
}

}  // namespace

std::vector<fs::path> leftovers_of(const fs::path& out) {
  const fs::path target = target_of(out);
  const std::string name = target.filename().string();
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator entry(target.parent_path(), ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    const std::string other = entry->path().filename().string();
    if (other.starts_with(name + ".tmp-") || other.starts_with(name + ".old-")) found.push_back(entry->path());
  }
  std::ranges::sort(found);
  return found;
}

std::string replace_directory(const fs::path& staged, const fs::path& target) {
  const fs::path old = take_free_name(staged, target) ? fs::path() : exchange(staged, target);
  fsync_name_of(target, old);
  return old.empty() ? "" : remove_folder(old);
}

StagedDirectory::StagedDirectory(const fs::path& out, ReplaceExisting replace, const fs::path& marker)
    : out_(target_of(out)),
      staging_(beside(out_, ".tmp-" + host_name() + "-" + std::to_string(getpid()))),
      marker_(marker),
      replace_(replace) {
  require_replaceable(out_, out);
  std::error_code error;
  const bool is_in_use =
      fs::exists(fs::symlink_status(out_, error)) && !(fs::is_directory(out_, error) && fs::is_empty(out_, error));
  if (is_in_use) {
    if (replace == ReplaceExisting::kRefuse) fail(ErrorKind::kUsage, out.string() + " exists", Topic::kOutputExists);
    if (!fs::exists(out_ / marker, error))
      fail(ErrorKind::kUsage, out.string() + " holds no " + marker.string() + " and is never replaced",
           Topic::kOutputForeign);
  }
  error.clear();  // "not there" is an answer
  fs::create_directories(out_.parent_path(), error);
  const bool is_new = !error && fs::create_directory(staging_, error);
  if (error) fail(ErrorKind::kIo, staging_.string() + ": cannot create this folder: " + error.message());
  if (!is_new) fail(ErrorKind::kIo, staging_.string() + " is a leftover of an interrupted run; remove it");
}

StagedDirectory::~StagedDirectory() {
  std::error_code ignored;
  if (!is_published_) fs::remove_all(staging_, ignored);
}

void StagedDirectory::publish() {
  fsync_directory(staging_);
  const Descriptor lock = lock_folder(out_);  // a program that adds to what is replaced here ends first
  const bool is_taken = !take_free_name(staging_, out_);
  is_published_ = true;  // from here on the results stay, under one name or the other
  std::error_code error;
  if (is_taken && (replace_ == ReplaceExisting::kRefuse || !fs::exists(out_ / marker_, error)))
    fail(ErrorKind::kUsage, out_.string() +
                                " appeared while the results were written, and is left as it is; they are in " +
                                staging_.string() + ", which can be renamed");
  const fs::path old = is_taken ? exchange(staging_, out_) : fs::path();
  fsync_name_of(out_, old);
  if (!is_taken) return;
  const std::string problem = fs::exists(old / marker_, error)
                                  ? remove_folder(old)
                                  : old.string() + ": had the name until now, is no earlier result, and is kept";
  if (!problem.empty()) fail(ErrorKind::kIo, problem);
}

}  // namespace salient
