// workbench/backend/device_turn.cpp - see device_turn.h.
#include "workbench/backend/device_turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/host/interrupt.h"

namespace salient::workbench {
namespace {

int open_lock(const char* what) {
  const char* const devices = std::getenv("CUDA_VISIBLE_DEVICES");
  std::string name = std::string("salient-kernels-") + std::to_string(getuid()) + "-" + what;
  for (const char c : std::string(devices == nullptr ? "" : devices))
    name += (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : '-';
  const std::filesystem::path path = std::filesystem::temp_directory_path() / (name + ".lock");
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) fail_with_errno(path, "create");
  return descriptor;
}

void lock(int descriptor, int how) {
  while (flock(descriptor, how) != 0) {
    if (errno != EINTR) fail(ErrorKind::kIo, "the lock of the GPU cannot be taken");
    stop_if_interrupted();
  }
}

/// Explicitly: a worker that was forked meanwhile has the same open file.
void unlock(int descriptor) {
  (void)flock(descriptor, LOCK_UN);
  (void)close(descriptor);
}

}  // namespace

DeviceTurn::DeviceTurn(Kind kind) : descriptor_(open_lock("turn")) {
  const int gate = open_lock("gate");
  lock(gate, LOCK_EX);
  lock(descriptor_, kind == Kind::kExclusive ? LOCK_EX : LOCK_SH);
  unlock(gate);
}

DeviceTurn::~DeviceTurn() { unlock(descriptor_); }

}  // namespace salient::workbench
