// engine/infer/host_matrix.cpp - see host_matrix.h.
#include "engine/infer/host_matrix.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/host/descriptor.h"
#include "core/host/machine.h"
#include "core/host/shared_memory.h"
#include "engine/comm/agreement.h"
#include "engine/comm/host_share.h"
#include "loaders/gather_paged_rows.h"

namespace salient {
namespace {

/// A file without a name; on a file system that knows none, one whose name is removed at once.
Descriptor open_nameless(const std::filesystem::path& folder) {
  Descriptor nameless(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (nameless || (errno != EOPNOTSUPP && errno != EISDIR)) return nameless;
  std::string name = (folder / "salient-infer-XXXXXX").string();
  Descriptor named(mkostemp(name.data(), O_CLOEXEC));
  if (named) (void)unlink(name.c_str());
  return named;
}

std::string size_text(std::size_t bytes) { return std::to_string((bytes >> 20) + 1) + " MB for a layer's activations"; }

bool memory_has_room_for(std::size_t bytes) {
  return static_cast<double>(bytes) <= static_cast<double>(available_host_bytes());
}

/// Whether files there take memory, as of a tmpfs.
bool keeps_files_in_memory(int descriptor) {
  struct statfs system {};
  return fstatfs(descriptor, &system) == 0 && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

/// Takes the file's pages now, so that writing a row cannot fail later. @return errno's number, 0 = done
int take_all_pages(int descriptor, std::size_t bytes) {
  return posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
}

/// What the first rank of a host made, until the others have it mapped.
class Original {
 public:
  Original(const std::optional<std::filesystem::path>& scratch, std::size_t bytes) {
    scratch ? make_file(*scratch, bytes) : make_in_memory(bytes);
  }
  const SharedHandle& handle() const { return handle_; }

 private:
  void make_file(const std::filesystem::path& scratch, std::size_t bytes) {
    file_ = open_nameless(scratch);
    if (!file_) fail_with_errno(scratch, "make a scratch file there");
    if (keeps_files_in_memory(file_.get()) && !memory_has_room_for(bytes))
      fail(ErrorKind::kHostMemory, scratch.string() + ": is kept in memory, which has no " + size_text(bytes),
           Topic::kScratch);
    handle_ = {.process = static_cast<int>(getpid()), .descriptor = file_.get(), .bytes = bytes};
    if (const int status = take_all_pages(file_.get(), bytes); status != 0)
      fail(ErrorKind::kIo,
           scratch.string() + ": no " + size_text(bytes) + " (" + std::generic_category().message(status) + ")",
           Topic::kScratch);
  }

  void make_in_memory(std::size_t bytes) {
    if (!memory_has_room_for(bytes))
      fail(ErrorKind::kHostMemory, "no " + size_text(bytes) + " in host memory", Topic::kActivations);
    handle_ = memory_.handle_of(memory_.allocate(bytes));
    if (const int status = take_all_pages(handle_.descriptor, bytes); status != 0)
      fail(ErrorKind::kHostMemory,
           "host memory: no " + size_text(bytes) + " (" + std::generic_category().message(status) + ")",
           Topic::kActivations);
  }

  SharedMemory memory_{};
  Descriptor file_{};
  SharedHandle handle_{};
};

}  // namespace

HostMatrix::HostMatrix(const HostMatrixSpec& spec, Communicator& comm, const Launch& launch)
    : rows_(spec.rows), row_bytes_(spec.row_bytes), is_file_(spec.scratch.has_value()) {
  const std::size_t bytes = rows_ * row_bytes_;
  if (bytes == 0) return;
  std::optional<Original> original;
  const std::string made = made_once_per_host(comm, launch, [&] {
    const SharedHandle& handle = original.emplace(spec.scratch, bytes).handle();
    return std::to_string(handle.process) + " " + std::to_string(handle.descriptor);
  });
  together(comm, [&] {
    SharedHandle handle{.bytes = bytes};
    std::istringstream(made) >> handle.process >> handle.descriptor;
    data_ = map_shared_writable(handle);
  });
}

/// Only there: pages that are mapped so are not kept for having been used often.
bool HostMatrix::end_writing() const {
  const std::size_t bytes = rows_ * row_bytes_;
  if (!is_file_ || memory_has_room_for(bytes)) return false;
  (void)madvise(data_.get(), bytes, MADV_RANDOM);
  return true;
}

void HostMatrix::will_read(std::size_t first, std::size_t count) const {
  if (is_file_) read_ahead(row(first), count * row_bytes_);
}

}  // namespace salient
