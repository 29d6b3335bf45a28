// tests/prepare/importers/masked_npz_importer_test.cpp - the right split of several is taken; wrong arrays are named.
#include "prepare/importers/masked_npz_importer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
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

using Entries = std::vector<test::ZipEntry>;

Entries entries_of(const Arrays& arrays) {
  return {{"node_features.npy", arrays.features}, {"node_labels.npy", arrays.labels}, {"edges.npy", arrays.edges},
          {"train_masks.npy", arrays.train},      {"val_masks.npy", arrays.valid},    {"test_masks.npy", arrays.test}};
}

template <class T>
std::string array(const char* dtype, const char* shape, const std::vector<T>& values, bool is_fortran = false) {
  return npy(dtype, shape, bytes_of(values), is_fortran);
}

class MaskedNpzTest : public ::testing::Test {
 protected:
  RawGraph import(const Entries& entries, MaskedNpzOptions options = {}) {
    options.file = test::write_bytes(folder_ / "toy.npz", test::zip(entries));
    options.name = "toy";
    options.feature_type = FeatureType::kF32;
    return import_masked_npz(options);
  }
  RawGraph import(const Arrays& arrays, int mask) { return import(entries_of(arrays), {.mask = mask}); }
  void expect_bad(const std::string& message, const Arrays& arrays) {
    EXPECT_COMPLAINT(import(arrays, 0), ErrorKind::kBadData, message);
  }
  const test::Scratch folder_;
};

void expect_the_same(const RawGraph& found, const RawGraph& expected) {
  EXPECT_EQ(found.num_nodes, expected.num_nodes);
  EXPECT_EQ(found.sources, expected.sources);
  EXPECT_EQ(found.destinations, expected.destinations);
  EXPECT_EQ(found.features.dim, expected.features.dim);
  EXPECT_EQ(found.features.rows, expected.features.rows);
  EXPECT_EQ(found.labels, expected.labels);
  EXPECT_EQ(found.train, expected.train);
  EXPECT_EQ(found.valid, expected.valid);
  EXPECT_EQ(found.test, expected.test);
}

TEST_F(MaskedNpzTest, ColumnsOfTheLabelsMayBeValues) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  const auto of = [&](const std::string& labels, std::vector<std::string> targets) {
    Arrays arrays;
    arrays.labels = labels;
    return import(entries_of(arrays), {.targets = std::move(targets)});
  };
  const RawGraph one = of(array<float>("<f4", "(4,)", {0.5F, -2, kNone, 1e9F}), {"0"});
  EXPECT_EQ(one.task, Task::kRegression);
  EXPECT_EQ(one.num_classes, 1);
  EXPECT_TRUE(std::isnan(one.targets[2]));
  EXPECT_EQ(one.targets[3], 1e9F);
  const std::vector<double> rows = {0, 1, 2, 3, 4, 5, 6, 7}, columns = {0, 2, 4, 6, 1, 3, 5, 7};
  for (const std::string& labels : {array("<f8", "(4, 2)", rows), array("<f8", "(4, 2)", columns, true)}) {
    EXPECT_EQ(of(labels, {"all"}).targets, (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(of(labels, {"1"}).targets, (std::vector<float>{1, 3, 5, 7}));
    EXPECT_COMPLAINT(of(labels, {"2"}), ErrorKind::kBadData, "has 2 columns, none is '2'; all takes each of them");
  }
  EXPECT_COMPLAINT(of(array<float>("<f4", "(3,)", {0, 1, 2}), {"all"}), ErrorKind::kBadData,
                   "has shape (3,), expected (4,), or (4, targets)");
  EXPECT_COMPLAINT(of(array<double>("<f8", "(4,)", {0, 1, 1e300, 2}), {"all"}), ErrorKind::kBadData,
                   "a target is finite");
}

using Bools = std::vector<std::uint8_t>;

/// The graph of Arrays, split 1, with the names and types that PyG's users save: one split, [2, E].
TEST_F(MaskedNpzTest, NamesOfPyGAndDgl) {
  const RawGraph expected = import(Arrays{}, 1);
  const std::string ids = array<std::int64_t>("<i8", "(2, 2)", {0, 2, 1, 3});
  const std::string train = array<std::uint8_t>("|b1", "(4,)", {0, 1, 0, 1}),
                    valid = array<std::uint8_t>("|b1", "(4,)", {0, 0, 1, 0}),
                    test = array<std::uint8_t>("|b1", "(4,)", {1, 0, 0, 0});
  const Arrays plain;
  expect_the_same(import(Entries{{"x.npy", plain.features},
                                 {"y.npy", plain.labels},
                                 {"edge_index.npy", ids},
                                 {"train_mask.npy", train},
                                 {"val_mask.npy", valid},
                                 {"test_mask.npy", test}}),
                  expected);
  expect_the_same(import(Entries{{"feat.npy", array<std::uint8_t>("|u1", "(4, 1)", {1, 2, 3, 4})},
                                 {"label.npy", plain.labels},
                                 {"src.npy", array<std::int32_t>("<i4", "(2,)", {0, 2})},
                                 {"dst.npy", array<double>("<f8", "(2,)", {1, 3})},
                                 {"train_idx.npy", array<std::int64_t>("<i8", "(2,)", {1, 3})},
                                 {"valid_idx.npy", array<std::int64_t>("<i8", "(1,)", {2})},
                                 {"test_idx.npy", array<std::int64_t>("<i8", "(1,)", {0})}}),
                  expected);
}

TEST_F(MaskedNpzTest, FortranOrderAndMasksByColumnAreTheSame) {
  const Arrays fortran{.features = array<float>("<f4", "(4, 1)", {1, 2, 3, 4}, true),
                       .edges = array<double>("<f8", "(2, 2)", {0, 2, 1, 3}, true),
                       .train = npy("|b1", "(2, 4)", bytes_of(Bools{1, 0, 0, 1, 0, 0, 0, 1}), true),
                       .valid = npy("|b1", "(4, 2)", bytes_of(Bools{0, 0, 1, 0, 0, 1, 0, 0})),
                       .test = npy("|b1", "(4, 2)", bytes_of(Bools{0, 0, 1, 1, 1, 0, 0, 0}), true)};
  for (const int mask : {0, 1}) expect_the_same(import(fortran, mask), import(Arrays{}, mask));
}

TEST_F(MaskedNpzTest, ASplitIsDrawnWhereThereAreNoMasks) {
  const Arrays plain;
  const Entries bare = {{"x.npy", plain.features}, {"y.npy", plain.labels}, {"edge_index.npy", plain.edges}};
  const RawGraph graph = import(bare, {.split = {0.5, 0.25, 0.25}, .rng_seed = 3});
  EXPECT_EQ(graph.train.size(), 2u);
  EXPECT_EQ(graph.valid.size(), 1u);
  EXPECT_EQ(graph.test.size(), 1u);
  EXPECT_EQ(graph.destinations, (Ids{2, 3})) << "2 x 2 named edge_index is [2, E]";
  EXPECT_EQ(import(entries_of(plain), {.split = {0.5, 0.25, 0.25}, .rng_seed = 3}).train, graph.train)
      << "masks unread";
  try {
    (void)import(bare);
    FAIL() << "no split";
  } catch (const Error& error) {
    EXPECT_EQ(error.topic(), Topic::kMissingSplit);
    EXPECT_NE(std::string(error.what()).find("has no train masks (train_masks, train_mask); it has: 'x.npy'"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(problems(MaskedNpzOptions{.file = "f", .split = {0.5}}).size(), 1u);
  EXPECT_EQ(problems(MaskedNpzOptions{.file = "f", .mask = 1, .split = {0.5, 0.2, 0.3}}).size(), 1u);
  EXPECT_EQ(problems(MaskedNpzOptions{}).size(), 1u);
}

TEST_F(MaskedNpzTest, NamesOfDglsReddit) {
  const Arrays plain;
  const Entries entries = {{"feature.npy", npy("<f4", "(4,)", bytes_of(std::vector<float>{1, 2, 3, 4}))},
                           {"label.npy", plain.labels},
                           {"edge_index.npy", array<std::int64_t>("<i8", "(2, 2)", {0, 2, 1, 3})},
                           {"node_types.npy", array<std::int64_t>("<i8", "(4,)", {3, 1, 2, 1})},
                           {"node_ids.npy", array<std::int64_t>("<i8", "(4,)", {0, 1, 2, 3})}};
  expect_the_same(import(entries), import(Arrays{}, 1));
  Entries other = entries;
  other[3].data = array<std::int64_t>("<i8", "(4,)", {3, 1, 4, 1});
  EXPECT_COMPLAINT(import(other), ErrorKind::kBadData, "'node_types.npy': item 2 is 4, the parts of a split are 1, 2");
}

TEST_F(MaskedNpzTest, ArraysThatAreNotUsedAreNamed) {
  const auto said = [&](const Entries& entries, const MaskedNpzOptions& options = {}) {
    ::testing::internal::CaptureStderr();
    const RawGraph graph = import(entries, options);
    return ::testing::internal::GetCapturedStderr() + graph.likely_features;
  };
  Entries entries = entries_of({});
  const std::string plain = said(entries);
  EXPECT_NE(plain.find("toy.npz: read: 'node_features.npy', 'node_labels.npy', "), std::string::npos) << plain;
  EXPECT_EQ(plain.find("not used"), std::string::npos) << plain;
  entries.push_back({"edge_weight.npy", array<float>("<f4", "(2,)", {1, 2})});
  entries.push_back({"train_idx.npy", array<std::int64_t>("<i8", "(1,)", {0})});
  EXPECT_NE(said(entries).find("not used: 'edge_weight.npy' (edges have neither weights nor features), "
                               "'train_idx.npy'"),
            std::string::npos)
      << "masks win over ids";
  EXPECT_NE(said(entries, {.split = {0.5, 0.25, 0.25}}).find("'train_masks.npy', "), std::string::npos);
  entries[0] = {"emb.npy", npy("<f4", "(4, 2)", std::string(32, '\1'))};
  const std::string text = said(entries);
  EXPECT_NE(text.find("'emb.npy' (if it holds the features, call it 'x.npy')"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("'emb.npy'")) << text;
}

TEST_F(MaskedNpzTest, NumNodesMustNotContradict) {
  Entries entries = entries_of({});
  entries.push_back({"num_nodes.npy", array<std::int64_t>("<i8", "()", {4})});
  EXPECT_EQ(import(entries).num_nodes, 4u);
  entries.back().data = array<std::int64_t>("<i8", "()", {5});
  EXPECT_COMPLAINT(import(entries), ErrorKind::kBadData, "'node_features.npy': has 4 rows, num_nodes is 5");
}

TEST_F(MaskedNpzTest, IdsThatCountFromOneAreSaid) {
  ::testing::internal::CaptureStderr();
  (void)import({.edges = npy("<i8", "(2, 2)", bytes_of(std::vector<std::int64_t>{1, 2, 2, 3}))}, 0);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("no edge has node 0, and one has the last, 3"),
            std::string::npos);
  expect_bad("item 3 is 4, the graph has nodes 0 to 3, which count from 0; do the ids count from 1?",
             {.edges = npy("<i8", "(2, 2)", bytes_of(std::vector<std::int64_t>{1, 2, 2, 4}))});
}

TEST_F(MaskedNpzTest, ASplitThatLeavesAPartEmptyIsSaid) {
  ::testing::internal::CaptureStderr();
  (void)import(entries_of({}), {.split = {0.6, 0.2, 0.2}});
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("the split of 4 labelled nodes leaves none for validation"),
            std::string::npos);
}

TEST_F(MaskedNpzTest, FeaturesMayBeMissing) {
  const Arrays plain;
  Entries entries = entries_of(plain);
  entries.erase(entries.begin());
  const RawGraph graph = import(entries);
  EXPECT_EQ(graph.num_nodes, 4u);
  EXPECT_EQ(graph.features.dim, 0);
  entries.erase(entries.begin());
  EXPECT_COMPLAINT(import(entries), ErrorKind::kBadData, "has no labels (node_labels, y, ");
}

TEST_F(MaskedNpzTest, SparseFeaturesAndEdgesOfPitfallsOfGnnEvaluation) {
  const Arrays plain;
  const Entries entries = {{"attr_data.npy", array<float>("<f4", "(4,)", {1, 2, 3, 4})},
                           {"attr_indices.npy", array<std::int32_t>("<i4", "(4,)", {0, 0, 0, 0})},
                           {"attr_indptr.npy", array<std::int32_t>("<i4", "(5,)", {0, 1, 2, 3, 4})},
                           {"attr_shape.npy", array<std::int64_t>("<i8", "(2,)", {4, 1})},
                           {"adj_data.npy", array<float>("<f4", "(2,)", {1, 1})},
                           {"adj_indices.npy", array<std::int32_t>("<i4", "(2,)", {1, 3})},
                           {"adj_indptr.npy", array<std::int32_t>("<i4", "(5,)", {0, 1, 1, 2, 2})},
                           {"adj_shape.npy", array<std::int64_t>("<i8", "(2,)", {4, 4})},
                           {"labels.npy", plain.labels}};
  const RawGraph graph = import(entries, {.split = {0.5, 0.25, 0.25}}), expected = import(plain, 0);
  EXPECT_EQ(graph.features.rows, expected.features.rows);
  EXPECT_EQ(graph.sources, expected.sources);
  EXPECT_EQ(graph.destinations, expected.destinations);
  Entries other = entries;
  other[7] = {"adj_shape.npy", array<std::int64_t>("<i8", "(2,)", {4, 5})};
  EXPECT_COMPLAINT(import(other, {.split = {0.5, 0.25, 0.25}}), ErrorKind::kBadData,
                   "'adj_shape.npy': has 5 nodes, the graph has 4");
}

TEST_F(MaskedNpzTest, AMemoryLimitIsKept) {
  EXPECT_COMPLAINT(import(entries_of({}), {.memory = MemoryLimit(1 << 20)}), ErrorKind::kHostMemory,
                   "'node_features.npy': needs 0.");
  EXPECT_EQ(import(entries_of({}), {.memory = MemoryLimit(std::uint64_t{1} << 40)}).num_nodes, 4u);
}

TEST_F(MaskedNpzTest, SeveralColumnsOfLabelsAreALabelEach) {
  const std::vector<std::int64_t> rows = {0, 1, 1, 1, 0, 0, 1, 0}, columns = {0, 1, 0, 1, 1, 1, 0, 0};
  const RawGraph graph = import({.labels = npy("<i8", "(4, 2)", bytes_of(rows))}, 0);
  EXPECT_EQ(graph.task, Task::kMultiLabel);
  EXPECT_EQ(graph.num_classes, 2);
  EXPECT_EQ(graph.multi_labels, (std::vector<std::int8_t>{0, 1, 1, 1, 0, 0, 1, 0}));
  EXPECT_EQ(import({.labels = npy("<i8", "(4, 2)", bytes_of(columns), true)}, 0).multi_labels, graph.multi_labels);
  const float nan = __builtin_nanf("");
  expect_bad("node 0 is to be trained on without a label",
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
  expect_bad("node 0 is to be trained on without a label", {.labels = labels(-1, 1)});
  expect_bad("item 3 is -2, which is no class (0 to 1048575, or -1 or NaN for none", {.labels = labels(0, -2)});
}

TEST_F(MaskedNpzTest, WhatMayBeWrong) {
  for (const int mask : {-1, 2})
    EXPECT_COMPLAINT(import({}, mask), ErrorKind::kUsage, ": has the masks 0 to 1, not " + std::to_string(mask));
  expect_bad("'node_features.npy': a graph has 1 to 2^32 - 2 nodes, the shape is ()",
             {.features = npy("<f4", "()", "1234")});
  expect_bad("'node_labels.npy': has shape (3,), expected (4, 1)",
             {.labels = npy("<i8", "(3,)", std::string(24, '\0'))});
  expect_bad("'edges.npy': has shape (1, 4), expected (2, E) or (E, 2)",
             {.edges = npy("<i8", "(1, 4)", std::string(32, '\0'))});
  expect_bad("'edges.npy': item 3 is 4, the graph has nodes 0 to 3",
             {.edges = npy("<i8", "(2, 2)", bytes_of(std::vector<std::int64_t>{0, 1, 2, 4}))});
  expect_bad("'edges.npy': item 2 is 0.5", {.edges = array<float>("<f4", "(2, 2)", {0, 1, 0.5, 3})});
  expect_bad("'edges.npy': item 1 is nan", {.edges = array<float>("<f4", "(2, 2)", {0, __builtin_nanf(""), 1, 3})});
  expect_bad("'edges.npy': item 1 is -1", {.edges = array<double>("<f8", "(2, 2)", {0, -1, 1, 3})});
  expect_bad("'train_masks.npy': has type <f4", {.train = array<float>("<f4", "(4,)", {0, 1, 0, 0})});
  expect_bad("'train_masks.npy': item 1 is 255, a mask is of 0 and 1",
             {.train = npy("|u1", "(1, 4)", std::string("\0\377\0\0", 4))});
  Entries entries = entries_of({});
  entries[3] = {"train_idx.npy", array<std::int64_t>("<i8", "(1,)", {-1})};
  EXPECT_COMPLAINT(import(entries), ErrorKind::kBadData, "'train_idx.npy': item 0 is -1, which is negative");
  entries = entries_of({});
  entries[2] = {"row.npy", array<std::int64_t>("<i8", "(1,)", {1})};
  entries.push_back({"col.npy", array<std::int64_t>("<i8", "(2,)", {1, 2})});
  EXPECT_COMPLAINT(import(entries), ErrorKind::kBadData, "'col.npy': has shape (2,), expected (1,), an end for every");
  expect_bad("'train_masks.npy': has shape (8,), masks of 4 nodes are (4,), (K, 4) or (4, K)",
             {.train = npy("|b1", "(8,)", std::string(8, '\0'))});
  expect_bad("'test_masks.npy': node 1 is in the split twice",
             {.test = npy("|b1", "(1, 4)", std::string("\0\1\0\0", 4))});
  expect_bad("'train_masks.npy': node 0 is to be trained on without a label",
             {.labels = npy("<f4", "(4,)", bytes_of(std::vector<float>{__builtin_nanf(""), 1, 0, 1}))});
}

}  // namespace
}  // namespace salient
