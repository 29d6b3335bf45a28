// tests/prepare/importers/masked_npz_importer_test.cpp - the right split of several is taken; wrong arrays are named.
#include "prepare/importers/masked_npz_importer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/archives.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::bytes_of;
using test::npy;
using Ids = std::vector<NodeId>;

/// Four nodes, two edges, two splits.
struct Arrays {
  std::string features = npy("<f4", "(4, 1)", bytes_of(std::vector<float>{1, 2, 3, 4}));
  std::string labels = npy("<i8", "(4,)", bytes_of(std::vector<std::int64_t>{0, 1, 0, 1}));
  std::string edges = npy("<i8", "(2, 2)", bytes_of(std::vector<std::int64_t>{0, 1, 2, 3}));
  std::string train = npy("|b1", "(2, 4)", std::string("\1\0\0\0\0\1\0\1", 8));
  std::string valid = npy("|b1", "(2, 4)", std::string("\0\1\0\0\0\0\1\0", 8));
  std::string test = npy("|b1", "(2, 4)", std::string("\0\0\1\1\1\0\0\0", 8));
};

class MaskedNpzTest : public ::testing::Test {
 protected:
  RawGraph import(const Arrays& arrays, int mask) {
    const auto file = test::write_bytes(folder_ / "toy.npz", test::zip({{"node_features.npy", arrays.features},
                                                                        {"node_labels.npy", arrays.labels},
                                                                        {"edges.npy", arrays.edges},
                                                                        {"train_masks.npy", arrays.train},
                                                                        {"val_masks.npy", arrays.valid},
                                                                        {"test_masks.npy", arrays.test}}));
    return import_masked_npz({.file = file, .mask = mask, .feature_type = FeatureType::kF32});
  }
  void expect_bad(const std::string& message, const Arrays& arrays) {
    EXPECT_COMPLAINT(import(arrays, 0), ErrorKind::kBadData, message);
  }
  const test::Scratch folder_;
};

TEST_F(MaskedNpzTest, SeveralColumnsOfLabelsAreALabelEach) {
  const std::vector<std::int64_t> rows = {0, 1, 1, 1, 0, 0, 1, 0}, columns = {0, 1, 0, 1, 1, 1, 0, 0};
  const RawGraph graph = import({.labels = npy("<i8", "(4, 2)", bytes_of(rows))}, 0);
  EXPECT_EQ(graph.task, Task::kMultiLabel);
  EXPECT_EQ(graph.num_classes, 2);
  EXPECT_EQ(graph.multi_labels, (std::vector<std::int8_t>{0, 1, 1, 1, 0, 0, 1, 0}));
  EXPECT_EQ(import({.labels = npy("<i8", "(4, 2)", bytes_of(columns), true)}, 0).multi_labels, graph.multi_labels);
  const float nan = __builtin_nanf("");
  expect_bad("row 0: node 0 is to be trained on without a label",
             {.labels = npy("<f4", "(4, 2)", bytes_of(std::vector<float>{nan, nan, 1, 1, 0, 0, 1, 0}))});
  expect_bad("item 2 is 2",
             {.labels = npy("<i8", "(4, 2)", bytes_of(std::vector<std::int64_t>{0, 1, 2, 1, 0, 0, 1, 0}))});
  expect_bad("has shape (2, 4)", {.labels = npy("<i8", "(2, 4)", bytes_of(rows))});
}

TEST_F(MaskedNpzTest, EachRowIsASplit) {
  const RawGraph graph = import({}, 0);
  EXPECT_EQ(graph.name, "toy");
  EXPECT_EQ(graph.num_nodes, 4u);
  EXPECT_EQ(graph.num_classes, 2);
  EXPECT_EQ(graph.sources, (Ids{0, 2}));  // pairs, though [2, 2] could be rows
  EXPECT_EQ(graph.destinations, (Ids{1, 3}));
  EXPECT_EQ(graph.features.rows.size(), 16u);
  EXPECT_EQ(graph.train, (Ids{0}));
  EXPECT_EQ(graph.valid, (Ids{1}));
  EXPECT_EQ(graph.test, (Ids{2, 3}));
  const RawGraph other = import({}, 1);
  EXPECT_EQ(other.train, (Ids{1, 3}));
  EXPECT_EQ(other.valid, (Ids{2}));
  EXPECT_EQ(other.test, (Ids{0}));
}

TEST_F(MaskedNpzTest, MinusOneIsUnlabelled) {
  const auto labels = [](std::int64_t first, std::int64_t last) {
    return npy("<i8", "(4,)", bytes_of(std::vector<std::int64_t>{first, 1, 0, last}));
  };
  EXPECT_EQ(import({.labels = labels(0, -1)}, 0).labels, (std::vector<std::int32_t>{0, 1, 0, -1}));
  expect_bad("row 0: node 0 is to be trained on without a label", {.labels = labels(-1, 1)});
  expect_bad("item 3 is -2.000000, which is no class (0, 1, ..., or -1 or NaN for none", {.labels = labels(0, -2)});
}

TEST_F(MaskedNpzTest, WhatMayBeWrong) {
  for (const int mask : {-1, 2})
    EXPECT_COMPLAINT(import({}, mask), ErrorKind::kUsage, ": has the masks 0 to 1, not " + std::to_string(mask));
  expect_bad("'node_features.npy': a graph has 1 to 2^32 - 2 nodes, the shape is ()",
             {.features = npy("<f4", "()", "1234")});
  expect_bad("'node_labels.npy': has shape (3,), expected (4, 1)",
             {.labels = npy("<i8", "(3,)", std::string(24, '\0'))});
  expect_bad("'edges.npy': has shape (1, 4), expected (E, 2)", {.edges = npy("<i8", "(1, 4)", std::string(32, '\0'))});
  expect_bad("'edges.npy': item 3 is 4, the graph has nodes 0 to 3",
             {.edges = npy("<i8", "(2, 2)", bytes_of(std::vector<std::int64_t>{0, 1, 2, 4}))});
  expect_bad("'train_masks.npy': has shape (8,), expected (K, 4) in C order",
             {.train = npy("|b1", "(8,)", std::string(8, '\0'))});
  expect_bad("'test_masks.npy': row 0: node 1 is in another part of the split, too",
             {.test = npy("|b1", "(1, 4)", std::string("\0\1\0\0", 4))});
  expect_bad("'train_masks.npy': row 0: node 0 is to be trained on without a label",
             {.labels = npy("<f4", "(4,)", bytes_of(std::vector<float>{__builtin_nanf(""), 1, 0, 1}))});
}

}  // namespace
}  // namespace salient
