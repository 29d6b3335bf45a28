// tests/loaders/steady_state_test.cpp - after the first batches nothing is allocated. Replaces operator new, hence a
// program of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "loaders/batch_maker.h"
#include "loaders/host_slab.h"
#include "sampler/neighbor_sampler.h"
#include "tests/support/batches.h"
#include "tests/support/datasets.h"

namespace {
std::atomic<long> num_allocations = 0;
}

// Not inlined, or g++ takes malloc() under a delete for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++num_allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  ++num_allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace salient {
namespace {

template <class Work>
long allocations_of(Work work) {
  const long before = num_allocations;
  work();
  return num_allocations - before;
}

class SteadyState : public ::testing::Test {
 protected:
  const Dataset dataset_ = test::generated_dataset(3000, 20, 25);
  const std::vector<BatchRequest> requests_ = test::requests_of(dataset_.train, 100);
};

TEST_F(SteadyState, TheSamplerAllocatesNothing) {
  for (const Draw draw : {Draw::kUniform, Draw::kWithReplacement}) {
    NeighborSampler sampler(dataset_.graph, {{5, 4, 3}, draw});
    Mfg mfg;
    const auto epoch = [&] {
      for (const BatchRequest& request : requests_) sampler.sample(request.seeds, request.key, mfg);
    };
    EXPECT_GT(allocations_of(epoch), 0) << "the counter counts";
    EXPECT_EQ(allocations_of(epoch), 0);
  }
}

TEST_F(SteadyState, ABatchAllocatesItsListOfHopsAndNothingElse) {
  BatchMaker maker(dataset_, {{5, 4, 3}});
  HostSlab slab;
  Batch batch;
  const auto epoch = [&] {
    for (const BatchRequest& request : requests_) {
      maker.sample(request, batch);
      maker.write(batch, slab.reserve(batch.layout.bytes));
    }
  };
  epoch();
  EXPECT_LE(allocations_of(epoch), static_cast<long>(requests_.size()));
}

}  // namespace
}  // namespace salient
