// loaders/dataset_sharing.cpp - see dataset_sharing.h.
#include "loaders/dataset_sharing.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

namespace salient {
namespace {

using Json = nlohmann::json;
using Mappings = std::vector<std::shared_ptr<const std::byte>>;

/// {process, descriptor, bytes}; null when empty.
template <class T>
Json place(std::span<const T> items, const SharedMemory& memory) {
  if (items.empty()) return nullptr;
  const SharedPlace found = memory.place_of(items.data());
  return {found.process, found.descriptor, items.size_bytes()};
}

template <class T>
std::span<const T> mapped(const Json& place, Mappings& mappings) {
  if (place.is_null()) return {};
  const auto bytes = place[2].get<std::size_t>();
  mappings.push_back(map_shared({.process = place[0], .descriptor = place[1], .bytes = bytes}));
  return {reinterpret_cast<const T*>(mappings.back().get()), bytes / sizeof(T)};
}

}  // namespace

std::string describe_shared(const Dataset& dataset, const SharedMemory& memory) {
  const std::span<const std::byte> features{dataset.features.data,
                                            dataset.features.num_rows * dataset.features.row_bytes};
  const Json text = {{"name", dataset.name},
                     {"source_kind", dataset.source_kind},
                     {"fingerprint", dataset.fingerprint},
                     {"task", static_cast<int>(dataset.task)},
                     {"num_classes", dataset.num_classes},
                     {"feature_dim", dataset.feature_dim},
                     {"feature_type", static_cast<int>(dataset.feature_type)},
                     {"is_symmetric", dataset.is_symmetric},
                     {"indptr", place(dataset.graph.indptr, memory)},
                     {"indices", place(dataset.graph.indices, memory)},
                     {"features", place(features, memory)},
                     {"labels", place(dataset.labels, memory)},
                     {"multi_labels", place(dataset.multi_labels, memory)},
                     {"train", place(dataset.train, memory)},
                     {"valid", place(dataset.valid, memory)},
                     {"test", place(dataset.test, memory)}};
  return text.dump();
}

Dataset map_described(const std::string& description) {
  const Json text = Json::parse(description);
  const auto mappings = std::make_shared<Mappings>();
  Dataset dataset;
  dataset.name = text["name"];
  dataset.source_kind = text["source_kind"];
  dataset.fingerprint = text["fingerprint"];
  dataset.task = static_cast<Task>(text["task"].get<int>());
  dataset.num_classes = text["num_classes"];
  dataset.feature_dim = text["feature_dim"];
  dataset.feature_type = static_cast<FeatureType>(text["feature_type"].get<int>());
  dataset.is_symmetric = text["is_symmetric"];
  dataset.graph = {mapped<EdgeOffset>(text["indptr"], *mappings), mapped<NodeId>(text["indices"], *mappings)};
  const std::span<const std::byte> features = mapped<std::byte>(text["features"], *mappings);
  if (const std::size_t num_nodes = dataset.num_nodes(); num_nodes > 0 && !features.empty())
    dataset.features = {features.data(), num_nodes, features.size() / num_nodes};
  dataset.labels = mapped<std::int32_t>(text["labels"], *mappings);
  dataset.multi_labels = mapped<std::int8_t>(text["multi_labels"], *mappings);
  dataset.train = mapped<NodeId>(text["train"], *mappings);
  dataset.valid = mapped<NodeId>(text["valid"], *mappings);
  dataset.test = mapped<NodeId>(text["test"], *mappings);
  dataset.storage = mappings;
  return dataset;
}

}  // namespace salient
