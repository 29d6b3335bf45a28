// loaders/resident_data.cpp - see resident_data.h.
#include "loaders/resident_data.h"

#include <string>
#include <utility>
#include <vector>

#include "core/console/log.h"
#include "core/error.h"
#include "core/number_text.h"
#include "core/timer.h"

namespace salient {
namespace {

/// Says how the rows were chosen, how long that took and what it is worth.
std::unique_ptr<FeatureCache> make_cache(const Dataset& dataset, const DataResidency& residency,
                                         const SamplingPlan& plan) {
  const Timer timer;
  const CachePolicy policy = plan.is_empty() ? CachePolicy::kDegree : residency.cache_policy;
  const std::vector<NodeId> nodes = nodes_to_cache(dataset.graph, policy, plan, residency.cached_rows);
  std::string line = "cached rows chosen by " + name_of(policy) + " in " + fixed(timer.seconds(), 1) + " s";
  auto cache = std::make_unique<FeatureCache>(dataset, nodes);
  if (!plan.is_empty())
    line += ", with " + fixed(100 * share_in(cache->nodes(), dataset.graph, plan), 0) + " % of a batch's rows";
  log_info(line);
  return cache;
}

}  // namespace

ResidentData::ResidentData(const Dataset& dataset, const DataResidency& residency, const SamplingPlan& plan,
                           std::unique_ptr<Shards> shards)
    : shards_(std::move(shards)) {
  require((residency.features == Residency::kSharded) == (shards_ != nullptr), "shards where features are sharded");
  if (residency.features == Residency::kDevice) features_.emplace(dataset.features);
  if (residency.features == Residency::kCached) cache_ = make_cache(dataset, residency, plan);
  if (residency.graph == GraphResidency::kDevice) graph_ = std::make_unique<DeviceGraph>(dataset.graph);
}

ResidentView ResidentData::view() const {
  ResidentView view{.graph = graph_.get()};
  if (features_ || shards_) {
    view.features = Residency::kDevice;
    view.device_rows = shards_ ? shards_->table() : features_->table();
  }
  if (cache_) {
    view.features = Residency::kCached;
    view.device_rows = cache_->table();
    view.cached = &cache_->nodes();
  }
  return view;
}

}  // namespace salient
