// core/host/shared_memory.cpp - see shared_memory.h.
#include "core/host/shared_memory.h"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/host/machine.h"

namespace salient {
namespace {

constexpr std::size_t kPart = std::size_t{256} << 20;  // bytes that one thread asks for at a time
constexpr int kCollapse = 25;                          // MADV_COLLAPSE, since Linux 6.1

std::size_t up_to(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::string text_of(int error) { return std::generic_category().message(error); }

/// `bytes` of `descriptor`, mapped from a 2 MiB border on, without which the kernel has no use for huge pages.
void* map_aligned(int descriptor, std::size_t bytes, int protection) {
  void* const room =
      mmap(nullptr, bytes + kHugePageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return MAP_FAILED;
  auto* const begin = static_cast<std::byte*>(room);
  const std::size_t skipped =
      (kHugePageBytes - reinterpret_cast<std::uintptr_t>(begin) % kHugePageBytes) % kHugePageBytes;
  void* const memory = mmap(begin + skipped, bytes, protection, MAP_SHARED | MAP_FIXED, descriptor, 0);
  if (skipped > 0) (void)munmap(begin, skipped);
  const std::size_t page = up_to(bytes, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  (void)munmap(begin + skipped + page, kHugePageBytes - skipped + bytes - page);
  return memory;
}

/// Pages go to the nodes in turn, whichever thread touches them first. Does nothing on one node.
void interleave(void* memory, std::size_t bytes) {
  std::array<unsigned long, 16> nodes{};
  constexpr unsigned long kMaxNode = 64 * nodes.size();
  if (syscall(SYS_get_mempolicy, nullptr, nodes.data(), kMaxNode, nullptr, MPOL_F_MEMS_ALLOWED) != 0) return;
  (void)syscall(SYS_mbind, memory, bytes, MPOL_INTERLEAVE, nodes.data(), kMaxNode, 0);  // a hint
}

/// Fills memory with zeros in huge pages. What the kernel refuses comes later, in small pages, when it is written.
void populate(std::byte* memory, std::size_t bytes) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t at = next.fetch_add(kPart); at < bytes; at = next.fetch_add(kPart)) {
      const std::size_t size = std::min(kPart, bytes - at);
      for (std::size_t page = 0; page < size; page += kHugePageBytes) memory[at + page] = std::byte{0};  // one of each
      if (madvise(memory + at, size, kCollapse) != 0) return;
    }
  };
  std::vector<std::jthread> helpers;
  const auto num_parts = static_cast<int>(std::min<std::size_t>((bytes + kPart - 1) / kPart, 64));
  for (int i = 1; i < std::min(num_parts, num_usable_cores()); ++i) helpers.emplace_back(work);
  work();
}

}  // namespace

SharedMemory::~SharedMemory() {
  while (!blocks_.empty()) deallocate(const_cast<void*>(blocks_.begin()->first));
}

void* SharedMemory::allocate(std::size_t bytes) {
  Descriptor file(memfd_create("salient", MFD_CLOEXEC));
  void* const memory = file && ftruncate(file.get(), static_cast<off_t>(bytes)) == 0
                           ? map_aligned(file.get(), bytes, PROT_READ | PROT_WRITE)
                           : MAP_FAILED;
  if (memory == MAP_FAILED)
    fail(ErrorKind::kHostMemory, "cannot share " + std::to_string(bytes) + " bytes between the ranks of this host: " +
                                     text_of(errno) + "; a data set on disk needs no shared memory");
  interleave(memory, bytes);
  if (bytes >= kHugePageBytes) populate(static_cast<std::byte*>(memory), bytes / kHugePageBytes * kHugePageBytes);
  const std::lock_guard lock(mutex_);
  blocks_[memory] = {.file = std::move(file), .bytes = bytes};
  return memory;
}

void SharedMemory::deallocate(void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(memory);
  if (found == blocks_.end()) return;
  (void)munmap(memory, found->second.bytes);
  blocks_.erase(found);
}

SharedHandle SharedMemory::handle_of(const void* memory) const {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(memory);
  require(found != blocks_.end(), "only what was allocated here can be shared");
  const auto& [file, bytes] = found->second;
  return {.process = static_cast<int>(getpid()), .descriptor = file.get(), .bytes = bytes};
}

namespace {

/// @param access  O_RDONLY or O_RDWR
std::shared_ptr<std::byte> map_file_of(const SharedHandle& handle, int access, int protection) {
  const std::string path = "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.descriptor);
  const Descriptor file(open(path.c_str(), access | O_CLOEXEC));
  void* const memory = file ? map_aligned(file.get(), handle.bytes, protection) : MAP_FAILED;
  if (memory == MAP_FAILED)
    fail(ErrorKind::kIo, path + ": cannot map what another rank of this host shares: " + text_of(errno) +
                             "; ranks of a host must see each other's processes (one user, one container)");
  return {static_cast<std::byte*>(memory), [bytes = handle.bytes](std::byte* mapped) { (void)munmap(mapped, bytes); }};
}

}  // namespace

std::shared_ptr<const std::byte> map_shared(const SharedHandle& handle) {
  return map_file_of(handle, O_RDONLY, PROT_READ);
}

std::shared_ptr<std::byte> map_shared_writable(const SharedHandle& handle) {
  return map_file_of(handle, O_RDWR, PROT_READ | PROT_WRITE);
}

}  // namespace salient
