// engine/device/planned_data.cpp - see planned_data.h.
#include "engine/device/planned_data.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/console/log.h"
#include "core/error.h"
#include "core/host/machine.h"
#include "core/memory_size.h"
#include "engine/comm/agreement.h"
#include "engine/comm/descriptor_exchange.h"
#include "engine/device/gpu_links.h"
#include "engine/device/missing_rows.h"
#include "engine/device/rank_parts.h"
#include "engine/device/typed_data.h"
#include "loaders/device_upload.h"
#include "loaders/type_caches.h"

namespace salient {
namespace {

bool is_sharded(const DataPlan& plan) { return plan.residency.features == Residency::kSharded; }

/// Each rank writes what starts in its part. Collective.
/// @param num_near  rows that there is to be room for behind the table, on this rank
std::unique_ptr<Shards> make_shards(const RankPlace& place, RowTable table, std::size_t num_near,
                                    const RowWriter& rows) {
  std::unique_ptr<Shards> shards;
  together(place.comm, [&] {
    shards = std::make_unique<Shards>(make_device_shard_memory(), table, place.comm.rank(), place.comm.size());
  });
  const std::vector<Descriptor> parts = exchange_descriptors(place.comm, shards->descriptor());
  together(place.comm, [&] { shards->join(parts, num_near); });  // all have mapped before the first one writes
  together(place.comm, [&] {
    const auto [first_row, count] = shards->own_rows();
    const auto write = [&](std::size_t first, std::size_t n, std::byte* out) {
      const std::size_t row = first_row + first;
      if (rows) return rows(row, n, out);
      std::memcpy(out, table.data + row * table.row_bytes, n * table.row_bytes);
    };
    auto* const to = const_cast<std::byte*>(shards->table().data) + first_row * table.row_bytes;
    upload("features to the GPUs", count, table.row_bytes, write, to);
  });
  return shards;
}

/// What this rank has of the parts.
void add_own_part(ResidencyRequest& request, const Dataset& dataset, const Parts& parts, int rank) {
  if (!dataset.types.is_typed()) {
    request.part_size = static_cast<std::size_t>(std::ranges::count(parts.owner, rank));
    return;
  }
  const std::vector<std::size_t> row_bytes = dense_row_bytes(dataset);
  const std::vector<std::uint64_t>& begin = dataset.slots->node_begin;
  for (std::size_t t = 0; t < row_bytes.size(); ++t) {
    const auto owners = parts.owner.subspan(begin[t], begin[t + 1] - begin[t]);
    request.part_bytes += row_bytes[t] * static_cast<std::size_t>(std::ranges::count(owners, rank));
  }
}

}  // namespace

ResidencyRequest request_of(const MachineOptions& options) {
  return {.features = options.features,
          .graph = options.sampler,
          .cache_bytes = bytes_of(options.cache_gb),
          .graph_bytes = bytes_of(options.graph_gb),
          .cache_policy = options.cache_policy};
}

FreeMemory free_memory(const ComputeDevice& device, int ranks_on_host) {
  return {.host_bytes = std::max<std::int64_t>(0, available_host_bytes()) / ranks_on_host,
          .device_bytes = device.free_bytes()};
}

DataPlan plan_on_all_ranks(Communicator& comm, ResidencyRequest request, const Dataset& dataset,
                           const std::function<RunNeeds()>& find_needs, const FreeMemory& free,
                           const std::string& why_not_sharded) {
  request.num_shards = request.num_ranks = comm.size();
  RunNeeds needs;
  DataPlan plan;
  together(comm, [&] {
    needs = find_needs();
    plan = plan_residency(request, dataset, needs, free);
  });
  double num_sharded = is_sharded(plan) ? 1 : 0;
  comm.all_reduce_sum({&num_sharded, 1});
  const bool is_on_all = num_sharded == comm.size();
  if (num_sharded == 0 || (is_on_all && why_not_sharded.empty())) return plan;
  if (comm.rank() == 0)
    log_info("features are not sharded over the GPUs: " + (is_on_all ? why_not_sharded : "the ranks' plans differ"));
  request.num_shards = 1;
  return plan_residency(request, dataset, needs, free);
}

DataPlan plan_data(const RankPlace& place, ResidencyRequest request, const Dataset& dataset,
                   const std::function<RunNeeds()>& find_needs) {
  const PeerReach reach = place.launch.num_hosts > 1 ? PeerReach{.obstacle = "the ranks are on several hosts"}
                                                     : reach_of_all_gpus(place.comm, place.device);
  const bool is_asked_for = request.features == Residency::kSharded;
  if (is_asked_for && !reach.obstacle.empty())
    fail_on_all_ranks(place.comm, ErrorKind::kUsage, "sharded features: " + reach.obstacle, Topic::kDeviceFeatures);
  if (is_asked_for && !reach.slow_link.empty() && place.comm.rank() == 0)
    log_warning("rows of other GPUs are slow to read: " + reach.slow_link);
  const std::string& why_not = is_asked_for || !reach.obstacle.empty() ? reach.obstacle : reach.slow_link;
  const FreeMemory free = free_memory(place.device, place.launch.ranks_on_host);
  const bool may_be_in_parts =  // else it is refused below
      dataset.types.is_typed() ? device_feature_bytes(dataset) > 0 : !dataset.has_sparse_features();
  if (request.features == Residency::kPartitioned && may_be_in_parts)
    add_own_part(request, dataset, parts_with_rows(dataset, place.comm), place.comm.rank());
  DataPlan plan = plan_on_all_ranks(place.comm, request, dataset, find_needs, free, why_not);
  if (place.device.is_cuda()) log_info(summary_of(plan, dataset));
  return plan;
}

ResidentData make_resident(const RankPlace& place, const Dataset& dataset, const DataPlan& plan,
                           const RowWriter& rows) {
  std::vector<std::unique_ptr<Shards>> shards;
  if (is_sharded(plan) && !dataset.types.is_typed())
    shards.push_back(make_shards(place, dataset.features, plan.residency.cached_rows, rows));
  if (is_sharded(plan))
    for (const FeatureTable& table : dataset.type_features)  // of a typed graph
      shards.push_back(table.rows.row_bytes > 0 ? make_shards(place, table.rows, 0, nullptr) : nullptr);
  ResidentData data;
  together(place.comm, [&] {
    data =
        ResidentData(dataset, plan.residency, plan.sampling, std::move(shards), {place.comm.rank(), place.comm.size()});
  });
  if (data.part() != nullptr) fetch_missing_rows(*data.part(), place.comm);
  return data;
}

}  // namespace salient
