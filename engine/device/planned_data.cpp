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
#include "engine/comm/agreement.h"
#include "engine/comm/descriptor_exchange.h"
#include "engine/comm/host_share.h"
#include "loaders/device_upload.h"

namespace salient {
namespace {

/// Why rows cannot be sharded over the ranks' GPUs; "" = they can, the same on all ranks. Collective.
std::string obstacle_to_shards(const RankPlace& place) {
  if (place.launch.num_hosts > 1) return "the ranks are on several hosts";
  const std::vector<std::string> gpus = gather_on_all(place.comm, place.device.is_cuda() ? name_of_current_gpu() : "");
  if (std::ranges::find(gpus, "") != gpus.end()) return "";  // refused with what else needs a GPU
  for (const std::string& obstacle : gather_on_all(place.comm, obstacle_to_reading(gpus)))
    if (!obstacle.empty()) return obstacle;
  return "";
}

bool is_sharded(const DataPlan& plan) { return plan.residency.features == Residency::kSharded; }

/// Collective.
bool is_sharded_anywhere_but_not_everywhere(const RankPlace& place, const DataPlan& plan) {
  double num_sharded = is_sharded(plan) ? 1 : 0;
  place.comm.all_reduce_sum({&num_sharded, 1});
  return num_sharded > 0 && num_sharded < place.comm.size();
}

/// Each rank writes what starts in its part. Collective.
std::unique_ptr<Shards> make_shards(const RankPlace& place, RowTable table, const RowWriter& rows) {
  std::unique_ptr<Shards> shards;
  together(place.comm, [&] {
    shards = std::make_unique<Shards>(make_device_shard_memory(), table, place.comm.rank(), place.comm.size());
  });
  const std::vector<Descriptor> parts = exchange_descriptors(place.comm, shards->descriptor());
  together(place.comm, [&] { shards->join(parts); });  // all have mapped before the first one writes
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

}  // namespace

ResidencyRequest request_of(const MachineOptions& options) {
  return {.features = options.features,
          .graph = options.sampler,
          .cache_bytes = static_cast<std::int64_t>(options.cache_gb * 1e9),
          .cache_policy = options.cache_policy};
}

FreeMemory free_memory(const ComputeDevice& device, int ranks_on_host) {
  return {.host_bytes = std::max<std::int64_t>(0, available_host_bytes()) / ranks_on_host,
          .device_bytes = device.free_bytes()};
}

DataPlan plan_data(const RankPlace& place, ResidencyRequest request, const Dataset& dataset,
                   const std::function<RunNeeds()>& find_needs) {
  const std::string obstacle = obstacle_to_shards(place);
  if (request.features == Residency::kSharded && !obstacle.empty())
    fail_on_all_ranks(place.comm, ErrorKind::kUsage, "sharded features: " + obstacle, Topic::kDeviceFeatures);
  request.num_shards = obstacle.empty() ? place.comm.size() : 1;
  request.num_ranks = place.comm.size();
  RunNeeds needs;
  DataPlan plan;
  const FreeMemory free = free_memory(place.device, place.launch.ranks_on_host);
  together(place.comm, [&] {
    needs = find_needs();
    plan = plan_residency(request, dataset, needs, free);
  });
  if (is_sharded_anywhere_but_not_everywhere(place, plan)) {
    request.num_shards = 1;
    plan = plan_residency(request, dataset, needs, free);
  }
  if (place.device.is_cuda()) log_info(summary_of(plan, dataset));
  return plan;
}

ResidentData make_resident(const RankPlace& place, const Dataset& dataset, const DataPlan& plan,
                           const RowWriter& rows) {
  std::unique_ptr<Shards> shards = is_sharded(plan) ? make_shards(place, dataset.features, rows) : nullptr;
  ResidentData data;
  together(place.comm, [&] {
    data =
        ResidentData(dataset, plan.residency, plan.sampling, std::move(shards), {place.comm.rank(), place.comm.size()});
  });
  return data;
}

}  // namespace salient
