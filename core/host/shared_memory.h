// core/host/shared_memory.h - arrays that several processes of one host map, so that they are in memory once.
// By hand: Boost.Interprocess leaves its segments behind when a process is killed.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "core/host/descriptor.h"
#include "core/host/host_memory.h"

namespace salient {

/// By which another process of this host finds an array.
struct SharedHandle {
  int process = 0, descriptor = -1;
  std::size_t bytes = 0;
};

/// Gives each array an anonymous file (memfd): it is in no directory, is not bounded by the size of /dev/shm, and is
/// gone with the last process that has it mapped, however that ends. In 2 MiB pages where the kernel makes them (Linux
/// 6.1 and later do on request, whatever transparent_hugepage/shmem_enabled says), spread over the NUMA nodes.
///
/// By hand: libraries for shared memory (Boost.Interprocess) name it in /dev/shm, and a killed run leaves it there.
///
/// Threads: any.
class SharedMemory final : public HostMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory() override;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  void* allocate(std::size_t bytes) override;
  void deallocate(void* memory) noexcept override;

  /// @param memory  what allocate() returned.
  SharedHandle handle_of(const void* memory) const;

 private:
  struct Block {
    Descriptor file;
    std::size_t bytes;
  };
  mutable std::mutex mutex_;
  std::map<const void*, Block> blocks_;
};

/// Maps another process' array, read-only. The mapping stays when that process is gone.
/// @throws Error{kIo} when that process is gone already, or belongs to someone else.
std::shared_ptr<const std::byte> map_shared(const SharedHandle& handle);

/// Likewise, to be written: every process that has it mapped sees the bytes. Maps any file that a process has open.
std::shared_ptr<std::byte> map_shared_writable(const SharedHandle& handle);

}  // namespace salient
