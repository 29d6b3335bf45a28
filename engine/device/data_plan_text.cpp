// engine/device/data_plan_text.cpp - the texts of data_plan.h and plan_shares.h.
#include <algorithm>
#include <cstdint>

#include "core/number_text.h"
#include "engine/device/data_plan.h"
#include "engine/device/plan_shares.h"
#include "engine/device/typed_data.h"

namespace salient {
namespace {

std::int64_t feature_bytes(const Dataset& dataset) { return static_cast<std::int64_t>(dataset.feature_bytes()); }

std::string percent(std::size_t part, std::size_t whole) {
  return fixed(100 * static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(1, whole)), 0) + " %";
}

std::string in_column(const std::string& text) {
  constexpr std::size_t kWidth = 11;
  return std::string(kWidth - std::min(kWidth, text.size()), ' ') + text;
}

}  // namespace

std::string cached_share(const DataPlan& plan, const Dataset& dataset) {
  if (dataset.types.is_typed())
    return percent(plan.residency.cached_bytes, static_cast<std::size_t>(device_feature_bytes(dataset)));
  return percent(plan.residency.cached_rows, dataset.num_nodes());
}

std::string graph_share(const DataPlan& plan, const Dataset& dataset) {
  return percent(*plan.residency.graph_entries, dataset.graph.indices.size()) + " of its entries";
}

std::string to_text(const DataPlan& plan) {
  std::string text;
  const bool has_gpu = plan.available.device_bytes.has_value();
  const auto amount = [](std::int64_t bytes) {  // "0.00 GB" would say nothing
    return bytes < 100'000'000 ? fixed(static_cast<double>(bytes) * 1e-6, 1) + " MB" : gigabytes(bytes);
  };
  const auto add_row = [&](const std::string& what, const std::string& host, const std::string& device) {
    std::string row = what;
    row.resize(std::max<std::size_t>(row.size(), 42), ' ');
    text += (text.empty() ? "" : "\n") + row + in_column(host) + (has_gpu ? in_column(device) : "");
  };
  add_row("memory plan", "host", "GPU");
  for (const MemoryLine& line : plan.lines)
    add_row("  " + line.what, amount(line.host_bytes), amount(line.device_bytes));
  add_row("  sum (the data set is a file mapping)", amount(plan.host_bytes), amount(plan.device_bytes));
  add_row("  available now", amount(plan.available.host_bytes), amount(plan.available.device_bytes.value_or(0)));
  return text;
}

std::string summary_of(const DataPlan& plan, const Dataset& dataset) {
  const bool is_cached = plan.residency.features == Residency::kCached;
  const bool is_sharded = plan.residency.features == Residency::kSharded;
  const bool is_in_part =  // of a typed graph
      is_on_gpus(plan.residency.features) && device_feature_bytes(dataset) < feature_bytes(dataset);
  const bool is_sparse = dataset.has_sparse_features() && !dataset.types.is_typed();
  return std::string(is_sparse ? "sparse " : "") + "features (" + gigabytes(feature_bytes(dataset)) +
         (is_in_part ? ", dense ones " + gigabytes(device_feature_bytes(dataset)) : "") + ") in " +
         (is_in_part ? "host memory, dense ones in " : "") +
         (is_sharded                                           ? "the memory of all GPUs of the host, "
          : plan.residency.features == Residency::kDevice      ? "GPU memory, "
          : plan.residency.features == Residency::kPartitioned ? "the host memory of all ranks, "
                                                               : "host memory, ") +
         (is_cached ? cached_share(plan, dataset) + " of them on the GPU too, " : "") +
         (is_sharded && plan.residency.cached_rows > 0 ? "copies of " + cached_share(plan, dataset) + " on each, "
                                                       : "") +
         "sampling on the " + (plan.residency.graph == GraphResidency::kDevice ? "GPU" : "host") + " (graph " +
         gigabytes(dataset.graph.num_bytes()) +
         (plan.residency.graph_entries ? ", " + graph_share(plan, dataset) + " in GPU memory" : "") +
         "): the run needs " + gigabytes_needed(plan.device_bytes) + " of the " +
         gigabytes(plan.available.device_bytes.value_or(0)) + " free on the GPU";
}

}  // namespace salient
