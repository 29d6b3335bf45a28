// store/dataset_sharing.cpp - see dataset_sharing.h.
#include "store/dataset_sharing.h"

#include <memory>
#include <span>

#include "store/shared_arrays.h"

namespace salient {

std::string describe_shared(const Dataset& dataset, const SharedMemory& memory) {
  const std::span<const std::byte> features{dataset.features.data,
                                            dataset.features.num_rows * dataset.features.row_bytes};
  const auto array = [&memory](auto items) { return SharedArrays::describe(items, memory); };
  const SharedArrays::Json text = {{"name", dataset.name},
                                   {"source_kind", dataset.source_kind},
                                   {"fingerprint", dataset.fingerprint},
                                   {"task", static_cast<int>(dataset.task)},
                                   {"num_classes", dataset.num_classes},
                                   {"feature_dim", dataset.feature_dim},
                                   {"feature_type", static_cast<int>(dataset.feature_type)},
                                   {"is_symmetric", dataset.is_symmetric},
                                   {"indptr", array(dataset.graph.indptr)},
                                   {"indices", array(dataset.graph.indices)},
                                   {"features", array(features)},
                                   {"labels", array(dataset.labels)},
                                   {"multi_labels", array(dataset.multi_labels)},
                                   {"train", array(dataset.train)},
                                   {"valid", array(dataset.valid)},
                                   {"test", array(dataset.test)}};
  return text.dump();
}

Dataset map_described(const std::string& description) {
  const auto text = SharedArrays::Json::parse(description);
  const auto arrays = std::make_shared<SharedArrays>();
  Dataset dataset;
  dataset.name = text["name"];
  dataset.source_kind = text["source_kind"];
  dataset.fingerprint = text["fingerprint"];
  dataset.task = static_cast<Task>(text["task"].get<int>());
  dataset.num_classes = text["num_classes"];
  dataset.feature_dim = text["feature_dim"];
  dataset.feature_type = static_cast<FeatureType>(text["feature_type"].get<int>());
  dataset.is_symmetric = text["is_symmetric"];
  dataset.graph = {arrays->map<EdgeOffset>(text["indptr"]), arrays->map<NodeId>(text["indices"])};
  const std::span<const std::byte> features = arrays->map<std::byte>(text["features"]);
  if (const std::size_t num_nodes = dataset.num_nodes(); num_nodes > 0 && !features.empty())
    dataset.features = {features.data(), num_nodes, features.size() / num_nodes};
  dataset.labels = arrays->map<std::int32_t>(text["labels"]);
  dataset.multi_labels = arrays->map<std::int8_t>(text["multi_labels"]);
  dataset.train = arrays->map<NodeId>(text["train"]);
  dataset.valid = arrays->map<NodeId>(text["valid"]);
  dataset.test = arrays->map<NodeId>(text["test"]);
  dataset.storage = arrays;
  return dataset;
}

}  // namespace salient
