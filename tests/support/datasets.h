// tests/support/datasets.h - data sets made in memory: a generated graph with features that name their node.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/philox.h"
#include "store/dataset.h"
#include "tests/support/graphs.h"

namespace salient::test {

/// Power-law graph; feature bytes are Philox of (node, position), labels are node mod num_classes with every seventh
/// unlabelled, and every third node is a training seed. For `num_labels` > 0, label t of node v is (v + 2 t) mod 3 - 1.
inline Dataset generated_dataset(NodeId num_nodes, double mean_degree, int feature_dim,
                                 FeatureType type = FeatureType::kF16, int num_labels = 0) {
  struct Storage {
    OwnedGraph graph{};
    std::vector<std::byte> features{};
    std::vector<std::int32_t> labels{};
    std::vector<std::int8_t> multi_labels{};
    std::vector<NodeId> train{};
  };
  const auto storage = std::make_shared<Storage>();
  storage->graph = power_law_graph(num_nodes, mean_degree, 1);
  const std::size_t row_bytes = static_cast<std::size_t>(feature_dim) * size_of(type);
  storage->features.resize(num_nodes * row_bytes);
  Dataset dataset;
  dataset.name = "generated";
  dataset.source_kind = "synthetic";
  dataset.num_classes = 5;
  dataset.feature_dim = feature_dim;
  dataset.feature_type = type;
  if (type == FeatureType::kFp8) dataset.fp8_scale = 0.25F;
  for (NodeId v = 0; v < num_nodes; ++v) {
    for (std::size_t at = 0; at < row_bytes; at += sizeof(PhiloxBlock)) {
      const PhiloxBlock block = philox4x32({{7, 7}}, {{v, static_cast<std::uint32_t>(at), 0, 0}});
      std::memcpy(storage->features.data() + v * row_bytes + at, &block, std::min(sizeof block, row_bytes - at));
    }
    for (std::size_t at = 0; type == FeatureType::kFp8 && at < row_bytes; ++at)
      storage->features[v * row_bytes + at] &= std::byte{0xBF};  // not a NaN
    storage->labels.push_back(v % 7 == 0 ? -1 : static_cast<std::int32_t>(v) % dataset.num_classes);
    for (int t = 0; t < num_labels; ++t)
      storage->multi_labels.push_back(static_cast<std::int8_t>((static_cast<int>(v % 3) + 2 * t) % 3 - 1));
    if (v % 3 == 0) storage->train.push_back(v);
  }
  dataset.graph = storage->graph.view();
  dataset.features = {storage->features.data(), num_nodes, row_bytes, dataset.fp8_scale};
  dataset.labels = storage->labels;
  if (num_labels > 0) {
    dataset.task = Task::kMultiLabel;
    dataset.num_classes = num_labels;
    dataset.labels = {};
    dataset.multi_labels = storage->multi_labels;
  }
  dataset.train = storage->train;
  dataset.storage = storage;
  return dataset;
}

inline std::vector<NodeId> all_nodes(const Dataset& dataset) {
  std::vector<NodeId> nodes(dataset.num_nodes());
  std::iota(nodes.begin(), nodes.end(), NodeId{0});
  return nodes;
}

/// The same with features of edges: waves, rows of f32.
inline Dataset with_edge_features(Dataset dataset, int dim) {
  struct Storage {
    std::shared_ptr<const void> rest{};
    std::vector<float> rows{};
  };
  const auto storage = std::make_shared<Storage>();
  storage->rest = dataset.storage;
  for (std::size_t i = 0; i < dataset.graph.indices.size() * static_cast<std::size_t>(dim); ++i)
    storage->rows.push_back(std::sin(static_cast<float>(i * i % 1013)));
  dataset.edge_feature_dim = dim;
  dataset.edge_feature_type = FeatureType::kF32;
  dataset.edge_features = {std::as_bytes(std::span(storage->rows)).data(), dataset.graph.indices.size(),
                           dataset.edge_feature_shape().row_bytes()};
  dataset.storage = storage;
  return dataset;
}

/// The same data set with a weight of every edge, from 0 to 4.
inline Dataset with_edge_weights(Dataset dataset) {
  struct Storage {
    std::shared_ptr<const void> rest{};
    std::vector<float> weights{};
  };
  const auto storage = std::make_shared<Storage>();
  storage->rest = dataset.storage;
  for (std::size_t e = 0; e < dataset.graph.indices.size(); ++e)
    storage->weights.push_back(static_cast<float>(e * e % 17 % 9) / 2);
  dataset.has_edge_weights = true;
  dataset.graph.entries.weights = storage->weights;
  dataset.storage = storage;
  return dataset;
}

}  // namespace salient::test
