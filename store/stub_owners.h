// store/stub_owners.h - edge ends ("stubs") of a generated graph by the node that has them.
//
// Random reads of the table of owners bound the speed of generation, so a block of stubs goes through three short
// loops, each of which prefetches for the next.
#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/host/huge_vector.h"
#include "core/types.h"

namespace salient {

/// In the place of a stub's partner: it has none.
inline constexpr std::uint64_t kNoStub = ~std::uint64_t{0};

/// Whose stub is it? Stubs are numbered by owner: rank r owns [prefix[r], prefix[r + 1]).
class StubOwners {
  using Range = oneapi::tbb::blocked_range<std::uint64_t>;

 public:
  explicit StubOwners(UnsetHugeVector<std::uint64_t> prefix) : prefix_(std::move(prefix)) {
    const std::uint64_t num_stubs = prefix_.back(), num_ranks = prefix_.size() - 1;
    shift_ = static_cast<std::uint32_t>(std::bit_width(num_stubs / std::max<std::uint64_t>(num_ranks, 1)));
    first_.resize((num_stubs >> shift_) + 1);
    oneapi::tbb::parallel_for(Range(0, num_ranks, 4096), [&](const Range& range) {
      for (std::uint64_t r = range.begin(); r < range.end(); ++r) {  // the block starts that lie in r's stubs
        const std::uint64_t round_up = (std::uint64_t{1} << shift_) - 1;
        for (std::uint64_t b = (prefix_[r] + round_up) >> shift_; b << shift_ < prefix_[r + 1]; ++b)
          first_[b] = static_cast<NodeId>(r);
      }
    });
  }

  std::uint64_t begin_of(std::uint64_t rank) const { return prefix_[rank]; }
  std::uint64_t end_of(std::uint64_t rank) const { return prefix_[rank + 1]; }
  std::uint64_t degree_of(std::uint64_t rank) const { return end_of(rank) - begin_of(rank); }

  /// Calls take(rank) of the owner of partner_of(stub) for each stub in [begin, end) that has a partner, in order.
  template <class PartnerOf, class Take>
  void visit_partners(std::uint64_t begin, std::uint64_t end, PartnerOf partner_of, Take take) const {
    constexpr std::size_t kBatch = 64;
    std::uint64_t partner[kBatch];
    NodeId block_owner[kBatch];
    while (begin < end) {
      std::size_t count = 0;
      for (; begin < end && count < kBatch; ++begin) {
        partner[count] = partner_of(begin);
        if (partner[count] == kNoStub) continue;
        prefetch_block(partner[count++]);
      }
      for (std::size_t i = 0; i < count; ++i) block_owner[i] = this->block_owner(partner[i]);
      for (std::size_t i = 0; i < count; ++i) take(owner(partner[i], block_owner[i]));
    }
  }

 private:
  void prefetch_block(std::uint64_t stub) const { __builtin_prefetch(&first_[stub >> shift_]); }
  NodeId block_owner(std::uint64_t stub) const {
    const NodeId rank = first_[stub >> shift_];
    __builtin_prefetch(&prefix_[rank]);
    return rank;
  }
  NodeId owner(std::uint64_t stub, NodeId rank) const {
    while (prefix_[rank + std::uint64_t{1}] <= stub) ++rank;
    return rank;
  }

  UnsetHugeVector<std::uint64_t> prefix_;
  UnsetHugeVector<NodeId> first_;  ///< owner of stub b << shift
  std::uint32_t shift_ = 0;
};

}  // namespace salient
