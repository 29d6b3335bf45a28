// sampler/seed_order.cpp - see seed_order.h.
#include "sampler/seed_order.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace salient {
namespace {

constexpr std::uint32_t kOrderHop = 0xFFFFFFFF;    // in the place of the hop: apart from all the samplers' draws
constexpr std::uint32_t kDrawsPerCounter = 65536;  // Draws allows 2^18 per counter

}  // namespace

void shuffle_seeds(std::span<NodeId> seeds, std::uint32_t seed, std::uint32_t epoch) {
  require(seeds.size() < std::size_t{1} << 32, "fewer than 2^32 seeds");
  const auto num_swaps = static_cast<std::uint32_t>(seeds.empty() ? 0 : seeds.size() - 1);
  for (std::uint32_t first = 0; first < num_swaps; first += std::min(kDrawsPerCounter, num_swaps - first)) {
    Draws draws({seed, epoch, 0}, kOrderHop, first / kDrawsPerCounter);
    const std::uint32_t count = std::min(kDrawsPerCounter, num_swaps - first);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t last = num_swaps - first - i;
      std::swap(seeds[last], seeds[draws.below(i, last + 1)]);
    }
  }
}

std::size_t num_global_batches(std::size_t num_seeds, std::size_t global_batch_size) {
  require(global_batch_size >= 1, "a batch holds at least one seed");
  return num_seeds / global_batch_size + (num_seeds % global_batch_size != 0);
}

SeedRange rank_share(std::size_t num_seeds, std::size_t global_batch_size, std::size_t batch, int rank, int num_ranks) {
  require(0 <= rank && rank < num_ranks, "a rank is in [0, number of ranks)");
  require(batch < num_global_batches(num_seeds, global_batch_size), "a batch of this epoch");
  const std::size_t begin = batch * global_batch_size;
  const std::size_t size = std::min(global_batch_size, num_seeds - begin);
  const auto r = static_cast<std::size_t>(rank), ranks = static_cast<std::size_t>(num_ranks);
  const std::size_t from = size * r / ranks, to = size * (r + 1) / ranks;
  return {begin + from, to - from};
}

}  // namespace salient
