// engine/device/data_plan.h - where the feature rows and the graph go, and the memory figures behind that choice: the
// one policy of training, inference and benchmarks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/batch_need.h"
#include "loaders/residency.h"
#include "store/dataset.h"

namespace salient {

/// What the user chose; nullopt: what fits.
struct ResidencyRequest {
  std::optional<Residency> features{};
  std::optional<GraphResidency> graph{};
  std::int64_t cache_bytes = 0;  ///< GPU memory for cached rows, or copies of other GPUs' sharded ones; 0: what the
                                 ///< rest of the run leaves. Of kPartitioned host memory for other ranks' rows; 0: a
                                 ///< tenth of a part
  std::int64_t graph_bytes = 0;  ///< GPU memory for the graph; 0: for all of it, or what the rest of the run leaves
  CachePolicy cache_policy = CachePolicy::kVip;
  int num_shards = 1;          ///< GPUs that can hold a part of the rows each and read all; of one nothing is gained
  int num_ranks = 1;           ///< that share the rows of kPartitioned
  std::size_t part_size = 0;   ///< nodes of this rank's part of them; 0: a mean one
  std::size_t part_bytes = 0;  ///< of a typed graph instead: what its dense rows take
};

struct MemoryLine {
  std::string what{};
  std::int64_t host_bytes = 0, device_bytes = 0;
};

/// A loader of the run.
struct LoaderNeed {
  std::string what{};  ///< "training batches"
  int num_slots = 0, num_workers = 0;
  BatchNeed batch{};
  std::optional<MemoryLine> if_resident{};  ///< what takes its place where features and graph are both in GPU memory
};

/// What a run needs, whatever the residency.
struct RunNeeds {
  std::vector<LoaderNeed> loaders{};
  std::vector<MemoryLine> others{};  ///< that do not depend on the residency
  SamplingPlan sampling{};           ///< of the batches that a cache is for; empty: any node may be met
  bool resident_edges = false;       ///< batches that stay in GPU memory read features of edges there
};

/// What CUDA, LibTorch and the rest of the program take.
MemoryLine libraries_line(bool on_gpu);

struct FreeMemory {
  std::int64_t host_bytes = 0;                 ///< for this rank
  std::optional<std::int64_t> device_bytes{};  ///< nullopt: there is no GPU
};

/// A value; nothing is allocated yet. ResidentData is made from its residency and sampling.
struct DataPlan {
  DataResidency residency{};
  SamplingPlan sampling{};                        ///< that of the needs
  std::vector<MemoryLine> lines{};                ///< what the run takes with this residency
  std::int64_t host_bytes = 0, device_bytes = 0;  ///< their sums; the data set's files are mapped and not counted
  FreeMemory available{};
};

/// Without a GPU all is on the host. With one the first row of this table whose need fits in GPU memory, or else the
/// last; of rows that contradict the request none is considered.
///
///   features  graph
///   device    device
///   sharded   device   if there are several shards, or `sharded` was asked for
///   device    in part  if a quarter of its entries fits, or bytes for it were asked for
///   sharded   in part  likewise
///   device    host
///   sharded   host     likewise
///   cached    device   if room is left for at least 2 % of the rows, or `cached` was asked for
///   cached    host     likewise
///   cached    in part  only if bytes for the graph were asked for
///   host      device
///   host      in part  only if the graph on the GPU was asked for
///   host      host
///
/// Of a graph in part the GPU reads the other rows in pinned host memory, which must have room.
/// Partitioned features only where they are asked for; with and without a GPU.
/// Where batches carry features or weights of edges, which the host's sampler alone finds, the graph is on the GPU for
/// resident batches alone: in the first four rows, with the features of edges beside it.
/// Sparse features are always on the host, and so is a graph whose rows are in the order of times, unless draws are by
/// time.
/// Of a typed graph "rows" are the dense ones of all types; the graph goes to the GPU as a whole, or not at all.
/// @throws Error{kNoDevice} for a request that needs a GPU where there is none; Error{kUsage} for sparse features
///         and graphs that are wanted elsewhere, for parts of typed graphs, and for fewer graph_bytes than
///         the whole graph takes and than the bounds of its rows in tiers do
DataPlan plan_residency(ResidencyRequest request, const Dataset& dataset, const RunNeeds& needs,
                        const FreeMemory& free);

/// The lines as a table, sums and free memory last.
std::string to_text(const DataPlan& plan);

/// One line about where the data is, for a run on a GPU.
std::string summary_of(const DataPlan& plan, const Dataset& dataset);

/// @throws Error{kHostMemory} or Error{kDeviceMemory} if the plan's sums exceed what is free.
void check(const DataPlan& plan);

}  // namespace salient
