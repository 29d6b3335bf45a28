// tests/support/host_shard_memory.h - parts of feature rows in the host's memory: what GPUs do, without one.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "core/error.h"
#include "loaders/shards.h"

namespace salient::test {

class HostShardMemory final : public ShardMemory {
 public:
  HostShardMemory() = default;
  ~HostShardMemory() override {
    if (range_ != nullptr) (void)::munmap(range_, bytes_);
  }
  HostShardMemory(const HostShardMemory&) = delete;
  HostShardMemory& operator=(const HostShardMemory&) = delete;

  Descriptor allocate(std::size_t bytes) override {
    Descriptor file(::memfd_create("shard", MFD_CLOEXEC));
    require(file && ::ftruncate(file.get(), static_cast<off_t>(bytes)) == 0, "a file in memory");
    return file;
  }

  std::byte* reserve(std::size_t bytes) override {
    range_ = ::mmap(nullptr, bytes_ = bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(range_ != MAP_FAILED, "addresses");
    return static_cast<std::byte*>(range_);
  }

  void map(const Descriptor& part, std::byte* at, std::size_t bytes) override {
    require(::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, part.get(), 0) == at, "a mapping");
  }

 private:
  void* range_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace salient::test
