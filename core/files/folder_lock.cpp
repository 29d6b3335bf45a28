// core/files/folder_lock.cpp - see folder_lock.h.
#include "core/files/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "core/host/interrupt.h"

namespace salient {
namespace {

/// false once another folder has the name.
bool has_name(const Descriptor& folder, const std::filesystem::path& name) {
  struct stat own {
  }, named{};
  return fstat(folder.get(), &own) == 0 && stat(name.c_str(), &named) == 0 && own.st_ino == named.st_ino &&
         own.st_dev == named.st_dev;
}

}  // namespace

std::optional<Descriptor> try_lock_folder(const std::filesystem::path& folder) {
  while (true) {
    Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened) return Descriptor();
    if (flock(opened.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
    if (has_name(opened, folder)) return opened;  // else it was replaced in between
  }
}

Descriptor lock_folder(const std::filesystem::path& folder) {
  while (true) {
    if (std::optional<Descriptor> lock = try_lock_folder(folder)) return std::move(*lock);
    stop_if_interrupted();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace salient
