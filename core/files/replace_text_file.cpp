// core/files/replace_text_file.cpp - see replace_text_file.h.
#include "core/files/replace_text_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <span>
#include <string>

#include "core/files/file_io.h"
#include "core/host/descriptor.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// A file that this program alone may write, as long as it is open. Removed at the end, unless it got another name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& path) : path_(path) {
    do {  // again when the program that had the lock renamed the file
      file_ = Descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666));
      if (!file_) fail_with_errno(path, "create");
      (void)flock(file_.get(), LOCK_EX);  // where a file system knows no locks, nothing keeps programs apart
    } while (!has_its_name());
  }
  ~TemporaryFile() {
    if (!is_renamed_) (void)unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view text) {
    if (ftruncate(file_.get(), 0) != 0) fail_with_errno(path_, "truncate");
    write_all(path_, file_, std::as_bytes(std::span(text)));
    if (fsync(file_.get()) != 0) fail_with_errno(path_, "fsync");
  }

  void rename_to(const fs::path& path) {
    is_renamed_ = std::rename(path_.c_str(), path.c_str()) == 0;
    if (!is_renamed_) fail_with_errno(path, "rename a file to this name");
  }

 private:
  bool has_its_name() const {
    struct stat own {
    }, named{};
    return fstat(file_.get(), &own) == 0 && stat(path_.c_str(), &named) == 0 && own.st_ino == named.st_ino &&
           own.st_dev == named.st_dev;
  }

  fs::path path_;
  Descriptor file_;
  bool is_renamed_ = false;
};

}  // namespace

void replace_text_file(const fs::path& path, std::string_view text) {
  TemporaryFile file(path.string() + ".tmp");
  file.write(text);
  file.rename_to(path);
}

}  // namespace salient
