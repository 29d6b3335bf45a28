// store/dataset_sharing.cpp - see dataset_sharing.h.
#include "store/dataset_sharing.h"

#include <memory>
#include <span>

#include "store/shared_arrays.h"

namespace salient {

std::string describe_shared(const Dataset& dataset, const SharedMemory& memory) {
  const std::span<const std::byte> features{dataset.features.data,
                                            dataset.features.num_rows * dataset.features.row_bytes};
  const SparseRowTable& sparse = dataset.sparse_features;
  const std::span<const std::byte> values{sparse.values, sparse.num_values() * size_of(dataset.feature_type)};
  const auto array = [&memory](auto items) { return SharedArrays::describe(items, memory); };
  SharedArrays::Json text = {{"fingerprint", dataset.fingerprint},
                             {"indptr", array(dataset.graph.indptr)},
                             {"indices", array(dataset.graph.indices)},
                             {"features", array(features)},
                             {"feature_begin", array(sparse.begin)},
                             {"feature_columns", array(sparse.columns)},
                             {"feature_values", array(values)},
                             {"labels", array(dataset.labels)},
                             {"multi_labels", array(dataset.multi_labels)},
                             {"train", array(dataset.train)},
                             {"valid", array(dataset.valid)},
                             {"test", array(dataset.test)}};
  visit_facts(dataset.facts(), [&](const char* name, const auto& fact) { text["facts"][name] = fact; });
  return text.dump();
}

Dataset map_described(const std::string& description) {
  const auto text = SharedArrays::Json::parse(description);
  const auto arrays = std::make_shared<SharedArrays>();
  Dataset dataset;
  visit_facts(dataset.facts(), [&](const char* name, auto& fact) { text["facts"][name].get_to(fact); });
  dataset.fingerprint = text["fingerprint"];
  dataset.graph = {arrays->map<EdgeOffset>(text["indptr"]), arrays->map<NodeId>(text["indices"])};
  const std::span<const std::byte> features = arrays->map<std::byte>(text["features"]);
  if (const std::size_t num_nodes = dataset.num_nodes(); num_nodes > 0 && !features.empty())
    dataset.features = {features.data(), num_nodes, features.size() / num_nodes, dataset.fp8_scale};
  dataset.sparse_features = {.begin = arrays->map<std::int64_t>(text["feature_begin"]),
                             .columns = arrays->map<std::uint32_t>(text["feature_columns"]),
                             .values = arrays->map<std::byte>(text["feature_values"]).data()};
  dataset.sparse_features.longest = LongestRows(dataset.sparse_features.begin);
  dataset.labels = arrays->map<std::int32_t>(text["labels"]);
  dataset.multi_labels = arrays->map<std::int8_t>(text["multi_labels"]);
  dataset.train = arrays->map<NodeId>(text["train"]);
  dataset.valid = arrays->map<NodeId>(text["valid"]);
  dataset.test = arrays->map<NodeId>(text["test"]);
  dataset.storage = arrays;
  return dataset;
}

}  // namespace salient
