// engine/infer/host_matrix.cpp - see host_matrix.h. A rank passes its nameless file on as /proc/PID/fd/NUMBER.
#include "engine/infer/host_matrix.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/host/descriptor.h"
#include "core/host/machine.h"
#include "engine/comm/agreement.h"
#include "engine/comm/host_share.h"

namespace salient {
namespace {

/// A file without a name; where the file system has none, its name is gone as soon as it is made.
int open_nameless(const std::filesystem::path& folder) {
  const int number = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (number >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return number;
  std::string name = (folder / "salient-infer-XXXXXX").string();
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) (void)unlink(name.c_str());
  return named;
}

Descriptor make(MatrixPlace place, const std::filesystem::path& scratch, std::size_t bytes) {
  const bool is_file = place == MatrixPlace::kFile;
  const std::string size = std::to_string((bytes >> 20) + 1) + " MB for a layer's activations";
  if (!is_file && static_cast<double>(bytes) > static_cast<double>(available_host_bytes()))
    fail(ErrorKind::kHostMemory, "no " + size + " in host memory; use --activations file");
  Descriptor made(is_file ? open_nameless(scratch) : memfd_create("salient-infer", MFD_CLOEXEC));
  if (made.get() < 0) fail_with_errno(is_file ? scratch : "memory", "make a scratch file there");
  const int status = bytes == 0 ? 0 : posix_fallocate(made.get(), 0, static_cast<off_t>(bytes));
  if (status == 0) return made;
  const std::string why = "no " + size + " (" + std::generic_category().message(status) + "); ";
  if (!is_file) fail(ErrorKind::kHostMemory, "host memory: " + why + "use --activations file");
  fail(ErrorKind::kIo, scratch.string() + ": " + why + "name another folder with --scratch");
}

}  // namespace

HostMatrix::HostMatrix(std::size_t rows, std::size_t width, MatrixPlace place, const std::filesystem::path& scratch,
                       Communicator& comm, const std::string& host)
    : rows_(rows), width_(width), bytes_(rows * width * sizeof(float)) {
  const std::vector<std::string> hosts = gather_on_all(comm, host);
  for (const std::string& name : hosts)
    group_of_.push_back(static_cast<int>(std::find(hosts.begin(), hosts.end(), name) - hosts.begin()));
  const int leader = group_of_[static_cast<std::size_t>(comm.rank())];
  Descriptor file;
  together(comm, [&] {
    if (leader == comm.rank()) file = make(place, scratch, bytes_);
  });
  const std::vector<std::string> paths =
      gather_on_all(comm, "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file.get()));
  together(comm, [&] {
    if (leader != comm.rank()) {
      const std::string& path = paths[static_cast<std::size_t>(leader)];
      file = Descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC));
      if (file.get() < 0) fail_with_errno(path, "share the activations of another rank");
    }
    map(file.get());
  });
}

void HostMatrix::map(int descriptor) {
  if (bytes_ == 0) return;
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) fail_with_errno("a layer's activations", "map");
  data_ = static_cast<float*>(memory);
}

HostMatrix::~HostMatrix() {
  if (data_ != nullptr) (void)munmap(data_, bytes_);
}

}  // namespace salient
