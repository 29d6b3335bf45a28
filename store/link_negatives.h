// store/link_negatives.h - pairs that are no links, where a data set comes with them: for evaluation, or hard ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/types.h"
#include "store/dataset.h"
#include "store/dataset_checks.h"
#include "store/store_arrays.h"

namespace salient {

/// The files of one split, each there or not.
struct NegativeArrays {
  StoreArray destinations, sources, pairs;
};
inline constexpr std::array<NegativeArrays, 3> kNegativeArrays = {
    NegativeArrays{{"links-train-negatives.npy", "<u4"},
                   {"links-train-negative-sources.npy", "<u4"},
                   {"links-train-negative-pairs.npy", "<u4"}},
    NegativeArrays{{"links-valid-negatives.npy", "<u4"},
                   {"links-valid-negative-sources.npy", "<u4"},
                   {"links-valid-negative-pairs.npy", "<u4"}},
    NegativeArrays{{"links-test-negatives.npy", "<u4"},
                   {"links-test-negative-sources.npy", "<u4"},
                   {"links-test-negative-pairs.npy", "<u4"}}};

/// Of one split. A copy shares the file mappings.
struct GivenNegatives {
  std::span<const NodeId> destinations{};  ///< [n, num_destinations] in the place of each link's own
  std::span<const NodeId> sources{};       ///< [n, num_sources] likewise
  std::size_t num_destinations = 0, num_sources = 0;
  std::span<const NodeId> pairs{};  ///< [m, 2] source and destination, of all links alike
  std::shared_ptr<const void> storage{};

  std::size_t of_link() const { return num_destinations + num_sources; }
  std::size_t num_pairs() const { return pairs.size() / 2; }
  bool empty() const { return of_link() == 0 && pairs.empty(); }
  /// Of link i, j below of_link(): destinations first. @return {source, destination}
  std::array<NodeId, 2> negative(const LinkTable& links, std::size_t i, std::size_t j) const {
    if (j < num_destinations) return {links.source(i), destinations[i * num_destinations + j]};
    return {sources[i * num_sources + j - num_destinations], links.destination(i)};
  }
};

/// Maps what the data set's folder has; empty where it has none, and for a generated data set.
/// @param split  kTrainLinks, kValidLinks or kTestLinks
/// @throws Error{kBadData} naming file and record: another shape or type, or an id of no node; Error{kIo}
/// Cost: every id once
GivenNegatives open_negatives(const Dataset& dataset, std::size_t split);

/// What only verify checks. @throws Error{kBadData} saying how many negatives are links of any split, and the first
/// Cost: a search in the graph for each negative
void verify_negatives(const Dataset& dataset, const DatasetChecks& checks);

/// Lines of a summary; none without negatives.
std::string negatives_text(const Dataset& dataset);

}  // namespace salient
