// tests/support/scored_dataset.h - small data sets with known and unknown labels, and a model's score on one.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "engine/train/score.h"
#include "tests/support/inference.h"

namespace salient::test {

inline constexpr int kScoreFanout = 3;

/// 400 nodes; nodes 100 to 249 are valid, 250 to 399 test. Every seventh label is unknown, the others follow no rule
/// that a model can learn. @param num_classes  of kMultiLabel labels of a node, of kRegression targets
inline Dataset scored_dataset(Task task, int num_classes) {
  struct Storage {
    std::shared_ptr<const void> graph{};
    std::vector<std::int32_t> classes{};
    std::vector<std::int8_t> flags{};
    std::vector<float> values{};
    std::vector<NodeId> valid{}, test{};
  };
  constexpr NodeId kNodes = 400;
  Dataset dataset = dataset_with_small_features(kNodes, 6, 7, FeatureType::kF32);
  const auto storage = std::make_shared<Storage>();
  storage->graph = dataset.storage;
  const auto draw = [](std::uint32_t v, std::uint32_t t) { return philox4x32({{3, 3}}, {{v, t, 0, 0}}).word[0]; };
  for (NodeId v = 0; v < kNodes; ++v) {
    storage->classes.push_back(v % 7 == 0 ? -1 : static_cast<std::int32_t>(draw(v, 0) % 1000) % num_classes);
    for (std::uint32_t t = 0; t < static_cast<std::uint32_t>(num_classes); ++t)
      storage->flags.push_back((v + t) % 7 == 0 ? std::int8_t{-1} : static_cast<std::int8_t>(draw(v, t) % 3 == 0));
    for (std::uint32_t t = 0; t < static_cast<std::uint32_t>(num_classes); ++t)
      storage->values.push_back((v + t) % 7 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                                 : static_cast<float>(draw(v, 90 + t) % 1000) - 300);
    if (v >= 100) (v < 250 ? storage->valid : storage->test).push_back(v);
  }
  dataset.task = task;
  dataset.num_classes = num_classes;
  dataset.labels = {};
  switch (task) {
    case Task::kMultiClass: dataset.labels = storage->classes; break;
    case Task::kMultiLabel: dataset.multi_labels = storage->flags; break;
    case Task::kRegression:
      dataset.targets = storage->values;
      for (int t = 0; t < 2 * num_classes; ++t) dataset.target_scales.push_back(t < num_classes ? 190 + t : 280 + t);
      break;
  }
  dataset.valid = storage->valid;
  dataset.test = storage->test;
  dataset.storage = storage;
  return dataset;
}

/// Collective.
inline Score score_test_nodes(Metric metric, const Dataset& dataset, Model& model, Communicator& comm) {
  const ComputeDevice cpu = on_the_cpu();
  LoaderPredictions predictions(
      dataset, {.rule = {std::vector<int>(static_cast<std::size_t>(model.num_layers()), kScoreFanout)}}, cpu);
  return score_nodes({metric, dataset, dataset.test}, {model, cpu, comm}, predictions, {.batch_size = 64});
}

}  // namespace salient::test
