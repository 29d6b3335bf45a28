// python/bindings/slab_pool.h - host memory of batches, each piece owned by its reader, and used again after.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "loaders/host_slab.h"

namespace salient::python {

/// A slab that one batch has to itself. It returns to its pool when the last owner is gone.
using OwnedSlab = std::shared_ptr<HostSlab>;

/// Slabs that no batch holds. There are never more than were held at the same time, and a slab keeps its memory: an
/// epoch whose batches are dropped one by one allocates nothing after its first batches.
class SlabPool : public std::enable_shared_from_this<SlabPool> {
 public:
  /// @param pinner  of every slab; null = ordinary memory
  static std::shared_ptr<SlabPool> make(std::unique_ptr<PagePinner> pinner);

  /// A slab whose content is unspecified; the pool lives as long as it. Threads: any, here and where the last owner
  /// lets go.
  OwnedSlab take();

 private:
  explicit SlabPool(std::unique_ptr<PagePinner> pinner);
  void give_back(std::unique_ptr<HostSlab> slab) noexcept;

  const int process_;                   // a forked child frees what it has inherited
  std::unique_ptr<PagePinner> pinner_;  // outlives the slabs below
  std::mutex mutex_;
  std::vector<std::unique_ptr<HostSlab>> idle_;
};

}  // namespace salient::python
