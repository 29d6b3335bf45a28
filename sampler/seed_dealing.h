// sampler/seed_dealing.h - which rank works on which seeds of a global batch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/enum_names.h"
#include "core/types.h"

namespace salient {

enum class DealKind : std::uint8_t {
  kEven,   ///< rank_share(): in the order of the epoch
  kOwner,  ///< deal_to_owners()
};

constexpr auto names_of(DealKind) {
  return std::to_array<EnumName<DealKind>>({{DealKind::kEven, "even"}, {DealKind::kOwner, "owner"}});
}

/// The most seeds of a batch of `size` that a rank gets; 10/9 of the mean with kOwner.
std::size_t largest_share(std::size_t size, int num_ranks, DealKind deal);

/// The fewest that deal_to_owners() gives: 8/9 of the mean, so that no rank waits for one with more than 1.25 times its
/// seeds. Of batches of a few seeds a rank, as even as can be.
std::size_t smallest_owners_share(std::size_t size, int num_ranks);

/// Sorts the seeds of one global batch by the rank that owns them: those of part p go to rank p * num_ranks /
/// num_parts. Where that is more than largest_share(), the last ones in the order of the batch go to the lowest ranks
/// with room, and ranks below smallest_owners_share() are filled up. Seeds of a rank keep their order.
///
/// @param batch    [n] distinct nodes; sorted by rank afterwards
/// @param part_of  [V] below num_parts
/// @return         [num_ranks + 1] rank r has batch[begin[r] .. begin[r + 1])
/// Determinism:    of the arguments alone, so all ranks compute the same.
std::vector<std::size_t> deal_to_owners(std::span<NodeId> batch, std::span<const std::uint16_t> part_of, int num_parts,
                                        int num_ranks);

/// The seeds that one rank is dealt: those of an epoch, in an order of its own, as if it were a single batch. Where the
/// parts are about equal those that it owns; a rank that owns fewer gets others', one that owns more leaves some out.
/// @param seeds  distinct nodes; otherwise as deal_to_owners()
std::vector<NodeId> seeds_of_rank(std::span<const NodeId> seeds, std::span<const std::uint16_t> part_of, int num_parts,
                                  int rank, int num_ranks);

}  // namespace salient
