// python/bindings/slab_pool.cpp - see slab_pool.h.
#include "python/bindings/slab_pool.h"

#include <unistd.h>

#include <utility>

namespace salient::python {

SlabPool::SlabPool(std::unique_ptr<PagePinner> pinner) : process_(getpid()), pinner_(std::move(pinner)) {}

std::shared_ptr<SlabPool> SlabPool::make(std::unique_ptr<PagePinner> pinner) {
  return std::shared_ptr<SlabPool>(new SlabPool(std::move(pinner)));
}

OwnedSlab SlabPool::take() {
  std::unique_ptr<HostSlab> slab;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      slab = std::move(idle_.back());  // the last one that was used: its pages are warm
      idle_.pop_back();
    }
  }
  if (!slab) slab = std::make_unique<HostSlab>(pinner_.get());
  const auto give_back = [pool = shared_from_this()](HostSlab* done) {
    pool->give_back(std::unique_ptr<HostSlab>(done));
  };
  return {slab.release(), give_back};
}

void SlabPool::give_back(std::unique_ptr<HostSlab> slab) noexcept {
  if (getpid() != process_) return;  // the fork may have copied the lock while it was held
  try {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(slab));
  } catch (...) {  // no memory for the list: this slab goes
  }
}

}  // namespace salient::python
