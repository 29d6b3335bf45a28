// loaders/resident_data.cpp - see resident_data.h.
#include "loaders/resident_data.h"

namespace salient {

ResidentData::ResidentData(const Dataset& dataset, const DataResidency& residency) {
  if (residency.features == Residency::kDevice) features_.emplace(dataset.features);
  if (residency.features == Residency::kCached) cache_ = std::make_unique<FeatureCache>(dataset, residency.cached_rows);
  if (residency.graph == GraphResidency::kDevice) graph_ = std::make_unique<DeviceGraph>(dataset.graph);
}

ResidentView ResidentData::view() const {
  ResidentView view{.graph = graph_.get()};
  if (features_) {
    view.features = Residency::kDevice;
    view.device_rows = features_->table();
  }
  if (cache_) {
    view.features = Residency::kCached;
    view.device_rows = cache_->table();
    view.cached = &cache_->nodes();
  }
  return view;
}

}  // namespace salient
