// loaders/residency.h - in which memory the feature rows and the graph of a data set are, as batches see it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/enum_names.h"
#include "loaders/cached_nodes.h"
#include "store/row_table.h"

namespace salient {

class DeviceGraph;
class NodeSet;
class PartRows;

/// In which memory the feature rows are, and hence what gathers those of a batch.
enum class Residency : std::uint8_t {
  kHost,         ///< host memory: a worker writes x into the slab
  kDevice,       ///< GPU memory: the GPU gathers x from `nodes` after the copy; x crosses no bus. Of a typed graph
                 ///< the rows of all types that are dense, here and below; a worker writes the sparse ones
  kCached,       ///< host memory, some rows in GPU memory too: a worker writes the others, the GPU assembles x
  kSharded,      ///< GPU memory, a part of the rows on each GPU of the host; to batches the same as kDevice
  kPartitioned,  ///< host memory of all ranks together: a worker writes the rows that its rank holds, the other ranks
                 ///< send theirs (engine/remote)
};

constexpr auto names_of(Residency) {
  return std::to_array<EnumName<Residency>>({{Residency::kHost, "host"},
                                             {Residency::kCached, "cached"},
                                             {Residency::kDevice, "device"},
                                             {Residency::kSharded, "sharded"},
                                             {Residency::kPartitioned, "partitioned"}});
}

/// Whether the GPU gathers all rows by itself.
constexpr bool is_on_gpus(Residency features) {
  return features == Residency::kDevice || features == Residency::kSharded;
}

/// Whether rows are copied to where they are used more, DataResidency::cached_rows of them.
constexpr bool may_have_copies(Residency features) {
  return features == Residency::kCached || features == Residency::kSharded || features == Residency::kPartitioned;
}

/// Whether x comes with the slab from the host, all of it.
constexpr bool is_x_from_host(Residency features) {
  return features == Residency::kHost || features == Residency::kPartitioned;
}

/// In which memory the graph is, and hence what samples it. Batches are the same.
enum class GraphResidency : std::uint8_t { kHost, kDevice };

constexpr auto names_of(GraphResidency) {
  return std::to_array<EnumName<GraphResidency>>(
      {{GraphResidency::kHost, "host"}, {GraphResidency::kDevice, "device"}});
}

/// Of both parts of a data set. The default is a CPU's.
struct DataResidency {
  Residency features = Residency::kHost;
  std::size_t cached_rows = 0;   ///< kCached: rows copied to the GPU; otherwise copies of rows of other ranks
  std::size_t cached_bytes = 0;  ///< of a typed graph instead, whose rows differ in width: what they take
  CachePolicy cache_policy = CachePolicy::kVip;  ///< of cached rows and graph_entries: which
  GraphResidency graph = GraphResidency::kHost;
  std::optional<std::size_t> graph_entries{};  ///< kDevice: how many of them are in GPU memory, the others in pinned
                                               ///< host memory, which the GPU reads; none = the whole graph is there
  /// Those of edges are in GPU memory, if there are some: resident batches read them there.
  bool edge_features = false;

  bool operator==(const DataResidency&) const = default;
};

/// What a loader reads in GPU memory instead of the data set's arrays in host memory. Borrows; the default is nothing.
struct ResidentView {
  Residency features = Residency::kHost;   ///< of sharded rows kDevice: batches see no difference
  RowTable device_rows{};                  ///< kDevice: all rows; kCached: those of `cached`, by NodeSet::index_of()
  std::span<const RowTable> type_rows{};   ///< of a typed graph: [types] instead; empty where rows are not dense
  const NodeSet* cached = nullptr;         ///< kCached: nodes whose rows are in GPU memory
  std::span<const NodeSet> type_cached{};  ///< of a typed graph instead: [types] rows of each type's table
  const PartRows* part = nullptr;          ///< kPartitioned: rows in this rank's host memory
  const DeviceGraph* graph = nullptr;      ///< null: the host samples
  RowTable edge_rows{};                    ///< features of edges, in the graph's order; without rows: not there
};

}  // namespace salient
