// tests/engine/infer/split_counts_test.cpp - the parts of a split are counted as all nodes are.
#include "engine/infer/split_counts.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <vector>

#include "engine/comm/communicator.h"
#include "engine/infer/prediction_writer.h"

namespace salient {
namespace {

/// By AccuracyCounter.
InferenceCounts counted(const at::Tensor& logits, const at::Tensor& labels) {
  AccuracyCounter counter(at::kCPU);
  counter.add(logits, labels);
  return counter.sum_over_ranks(*make_self_communicator());
}

void expect_equal(const InferenceCounts& a, const InferenceCounts& b) {
  EXPECT_EQ(a.nodes, b.nodes);
  EXPECT_EQ(a.labelled, b.labelled);
  EXPECT_EQ(a.correct, b.correct);
  EXPECT_EQ(a.positives, b.positives);
  EXPECT_EQ(a.predicted_positives, b.predicted_positives);
  EXPECT_EQ(a.true_positives, b.true_positives);
}

const std::vector<NodeId> kTrain{0, 2}, kValid{1, 5}, kTest{4};

Dataset six_nodes(Task task) {
  static const std::vector<EdgeOffset> indptr(7, 0);
  Dataset dataset;
  dataset.graph.indptr = indptr;
  dataset.task = task;
  dataset.num_classes = 2;
  dataset.train = kTrain;
  dataset.valid = kValid;
  dataset.test = kTest;
  return dataset;
}

TEST(SplitCounts, AgreeWithTheCounterOfAllNodes) {
  const std::vector<NodeId> nodes{5, 4, 3, 2, 1, 0};
  const std::vector<float> logits{1, 0, 0, 1, 1, 0, 0, 1, 2, 2, 0, 1};  // classes 0 1 0 1 0 1
  const std::vector<std::int32_t> best{0, 1, 0, 1, 0, 1}, classes{1, -1, 0, 0, 1, 0};
  const std::vector<std::int8_t> flags{1, 0, -1, 1, 0, 0, 1, 1, -1, -1, 0, 1};
  for (const Task task : {Task::kMultiClass, Task::kMultiLabel}) {
    Dataset dataset = six_nodes(task);
    dataset.labels = classes;
    dataset.multi_labels = flags;
    SplitCounts counts(dataset, nodes);
    counts.add(std::span(logits).first(4), std::span(best).first(2));
    counts.add(std::span(logits).subspan(4), std::span(best).subspan(2));
    const at::Tensor rows = at::tensor(logits).view({6, 2});
    const std::vector<std::pair<Split, std::vector<std::int64_t>>> parts = {
        {Split::kTest, {1}}, {Split::kValid, {0, 4}}, {Split::kTrain, {3, 5}}};  // places in `nodes`
    for (const auto& [split, places] : parts) {
      std::vector<std::int64_t> ids;
      for (const std::int64_t place : places) ids.push_back(nodes[static_cast<std::size_t>(place)]);
      const at::Tensor labels = task == Task::kMultiClass ? at::tensor(classes) : at::tensor(flags).view({6, 2});
      expect_equal(counts.of(split),
                   counted(rows.index_select(0, at::tensor(places)), labels.index_select(0, at::tensor(ids))));
      for (const std::int64_t id : ids) EXPECT_TRUE(counts.has(split, static_cast<NodeId>(id)));
    }
    EXPECT_FALSE(counts.has(Split::kTest, 3));
  }
}

}  // namespace
}  // namespace salient
