// prepare/partitioning/partition.h - ways to cut a data set into parts, one for each rank.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/enum_names.h"
#include "store/dataset.h"

namespace salient {

enum class PartitionMethod : std::uint8_t {
  kCluster,  ///< few entries between parts
  kRanges,   ///< of consecutive ids
};

constexpr auto names_of(PartitionMethod) {
  return std::to_array<EnumName<PartitionMethod>>(
      {{PartitionMethod::kCluster, "cluster"}, {PartitionMethod::kRanges, "ranges"}});
}

/// [V] the part of each node.
using Owners = std::vector<std::uint16_t>;

/// Node v belongs to part v * num_parts / V.
Owners range_parts(std::size_t num_nodes, int num_parts);

/// The same of a data set's nodes, of a typed graph of those of each type.
Owners range_parts(const Dataset& dataset, int num_parts);

/// Parts with few entries between them, of all relations. In a typed graph a node counts by its row: as one, and one
/// more for each 64 bytes of dense features. Each part has at most 3 % more than its share of all nodes, of the
/// training nodes, and of the validation and test nodes, where a node more or less is not already more than that.
///
/// Cost:      some ten passes over the graph on one core; memory beside the graph: 40 bytes per node, and the first
///            coarser graph.
/// Algorithm: multilevel: groups of nodes are contracted until few are left, those are dealt to parts, and at every
///            level on the way back nodes move to the part that most of their entries lead to. See find_groups().
Owners cluster_parts(const Dataset& dataset, int num_parts);

/// The parts that another program made: whole numbers, one per node. NAME.npy is an array [V] of any integer type;
/// other files are text, plain or gzip, a line a node, as METIS and KaMinPar write them.
/// @param num_parts  0 = the highest number, and 1
/// @throws Error{kNoInput}, Error{kIo}; Error{kBadData} for another shape or type, or a part that there is not, naming
///         item or line
Owners read_parts(const std::filesystem::path& file, std::size_t num_nodes, int num_parts);

}  // namespace salient
