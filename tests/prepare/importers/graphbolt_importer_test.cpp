// tests/prepare/importers/graphbolt_importer_test.cpp - OnDiskDatasets of one type and of several, as DGL's pages have
// them, and what is wrong with others.
#include "prepare/importers/graphbolt_importer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/archives.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::bytes_of, test::npy;
using Ids = std::vector<NodeId>;
using Wide = std::vector<std::int64_t>;

const std::string kPlain = R"(dataset_name: homogeneous_graph_nc
graph:
  nodes:
    - num: 4
  edges:
    - format: csv
      path: edges.csv
feature_data:
  - domain: node
    type: null
    name: feat
    format: numpy
    in_memory: true
    path: node-feat-1.npy
  - domain: node
    name: other
    format: torch
    path: node-feat-2.pt
  - domain: edge
    name: weight
    format: numpy
    path: weight.npy
tasks:
  - name: node_classification
    num_classes: 5
    train_set:
      - data:
          - name: seeds
            format: numpy
            path: train.npy
          - name: labels
            format: numpy
            path: train-labels.npy
    validation_set:
      - data:
          - name: seeds
            path: valid.npy
          - name: labels
            path: valid-labels.npy
    test_set:
      - data:
          - name: seeds
            path: test.npy
  - name: link_prediction
    train_set:
      - data:
          - name: node_pairs
            path: pairs.npy
)";

const std::string kTyped = R"(dataset_name: mag
graph:
  edges:
  - format: numpy
    path: edges/writes.npy
    type: author:writes:paper
  - format: csv
    path: edges/cites.csv
    type: paper:cites:paper
  nodes:
  - num: 3
    type: author
  - num: 4
    type: paper
feature_data:
- domain: node
  format: numpy
  in_memory: false
  name: feat
  path: data/paper.npy
  type: paper
tasks:
- name: node_classification
  num_classes: 3
  train_set:
  - data:
    - format: numpy
      name: seeds
      path: set/train.npy
    - format: numpy
      name: labels
      path: set/train_labels.npy
    type: paper
  validation_set: []
)";

class GraphBolt : public ::testing::Test {
 protected:
  void put(const std::string& file, const std::string& bytes) { test::write_bytes(dir_ / file, bytes); }
  void put_ids(const std::string& file, const Wide& ids) {
    put(file, npy("<i8", "(" + std::to_string(ids.size()) + ",)", bytes_of(ids)));
  }
  void put_plain() {
    put("metadata.yaml", kPlain);
    put("edges.csv", "0,1\n1,2\n3,3\n");
    put("node-feat-1.npy", npy("<f4", "(4, 2)", bytes_of(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7})));
    put_ids("train.npy", {3, 0});
    put_ids("train-labels.npy", {1, 4});
    put_ids("valid.npy", {1});
    put_ids("valid-labels.npy", {2});
    put_ids("test.npy", {2});
  }
  void put_typed() {
    put("metadata.yaml", kTyped);
    put("edges/writes.npy", npy("<i8", "(2, 3)", bytes_of(Wide{0, 1, 2, 3, 0, 0})));
    put("edges/cites.csv", "1,2\n3,3\n");
    put("data/paper.npy", npy("<f4", "(4, 2)", bytes_of(std::vector<float>(8, 1))));
    put_ids("set/train.npy", {2, 0});
    put_ids("set/train_labels.npy", {1, 0});
  }
  RawGraph plain() { return import_graphbolt({.dir = dir_, .feature_type = FeatureType::kF32}); }
  TypedGraph typed() { return import_typed_graphbolt({.dir = dir_}); }
  /// With one piece of the description changed, then whole again.
  void expect_bad(const std::string& old, const std::string& changed, const std::string& words) {
    const std::string before = test::read_bytes(dir_ / "metadata.yaml");
    std::string text = before;
    const std::size_t at = text.find(old);
    ASSERT_NE(at, std::string::npos) << old;
    put("metadata.yaml", text.replace(at, old.size(), changed));
    EXPECT_COMPLAINT(is_typed_graphbolt({.dir = dir_}) ? (void)typed() : (void)plain(), ErrorKind::kBadData, words);
    put("metadata.yaml", before);
  }

  const test::Scratch scratch_;
  const std::filesystem::path dir_ = scratch_ / "bolt";
};

TEST_F(GraphBolt, OfOneType) {
  put_plain();
  EXPECT_FALSE(is_typed_graphbolt({.dir = dir_}));
  const RawGraph graph = plain();
  EXPECT_EQ(graph.name, "homogeneous_graph_nc");
  EXPECT_EQ(graph.source_kind, "graphbolt");
  EXPECT_EQ(graph.num_nodes, 4u);
  EXPECT_EQ(graph.sources, (Ids{0, 1, 3}));
  EXPECT_EQ(graph.destinations, (Ids{1, 2, 3}));
  EXPECT_TRUE(graph.symmetrise);
  EXPECT_EQ(graph.features.dim, 2);
  EXPECT_EQ(graph.labels, (std::vector<std::int32_t>{4, 2, -1, 1}));
  EXPECT_EQ(graph.num_classes, 5);
  EXPECT_EQ(graph.train, (Ids{3, 0}));
  EXPECT_EQ(graph.valid, (Ids{1}));
  EXPECT_EQ(graph.test, (Ids{2}));
}

TEST_F(GraphBolt, OfSeveralTypes) {
  put_typed();
  EXPECT_TRUE(is_typed_graphbolt({.dir = dir_}));
  const TypedGraph graph = typed();
  EXPECT_EQ(type_names(graph.schema), "author, paper");
  EXPECT_EQ(graph.schema.target().name, "paper");
  ASSERT_EQ(graph.schema.relations.size(), 4u);
  EXPECT_EQ(text_of(graph.schema, graph.schema.relations[0]), "author:writes:paper");
  EXPECT_EQ(graph.edges[0].sources, (Ids{0, 1, 2}));
  EXPECT_EQ(graph.edges[0].destinations, (Ids{3, 0, 0}));
  EXPECT_EQ(graph.edges[1].destinations, (Ids{2, 3}));
  EXPECT_EQ(graph.features[0].dim, 0);
  EXPECT_EQ(graph.features[1].dim, 2);
  EXPECT_EQ(graph.target.labels, (std::vector<std::int32_t>{0, -1, 1, -1}));
  EXPECT_EQ(graph.target.num_classes, 3);
  EXPECT_EQ(graph.target.train, (Ids{2, 0}));
  EXPECT_EQ(graph.target.name, "mag");
  EXPECT_EQ(import_typed_graphbolt({.dir = dir_, .symmetric = Symmetric::kNo}).schema.relations.size(), 2u);
}

TEST_F(GraphBolt, WhatIsNoSuchSetIsRefusedByLine) {
  EXPECT_COMPLAINT(plain(), ErrorKind::kNoInput, "bolt is not a folder");
  put_plain();
  expect_bad("num: 4", "num: four", "metadata.yaml: line 4: num is no count");
  expect_bad("num: 4", "num: 5", "node-feat-1.npy: has 4 rows, there are 5 nodes");
  expect_bad("num: 4", "num: 0", "a graph has 1 to 2^32 - 2 nodes, not 0");
  expect_bad("graph:", "grap:", "line 1: 'graph' is expected here");
  expect_bad("path: edges.csv", "path: edges.pt", "line 6: 'edges.pt' is a Python pickle");
  expect_bad("format: csv", "format: parquet", "line 6: format 'parquet'; numpy and csv are read");
  expect_bad("- name: seeds", "- name: node_pairs", "'node_pairs' of a task: seeds and labels of nodes are read");
  expect_bad("path: train-labels.npy", "path: valid-labels.npy", "valid-labels.npy: has 1 labels");
  expect_bad("path: valid.npy", "path: train.npy", "train.npy");
  expect_bad("name: feat\n", "name: feat\n    name: x\n", "'name' is there twice");
  EXPECT_COMPLAINT(import_graphbolt({.dir = dir_, .task = "rank"}), ErrorKind::kBadData, "no task is called 'rank'");
  EXPECT_COMPLAINT(import_graphbolt({.dir = dir_, .feature = "other"}), ErrorKind::kBadData, "is a Python pickle");
  put("edges.csv", "0,1\n1,4\n");
  EXPECT_COMPLAINT(plain(), ErrorKind::kBadData, "edges.csv: line 2");
  std::filesystem::remove(dir_ / "train.npy");
  EXPECT_COMPLAINT(plain(), ErrorKind::kNoInput, "train.npy");
}

TEST_F(GraphBolt, AMemoryLimitIsKept) {
  put_plain();
  EXPECT_COMPLAINT(import_graphbolt({.dir = dir_, .memory = MemoryLimit(1)}), ErrorKind::kHostMemory,
                   "node-feat-1.npy");
  put_typed();
  EXPECT_COMPLAINT(import_typed_graphbolt({.dir = dir_, .memory = MemoryLimit(1)}), ErrorKind::kHostMemory,
                   "paper.npy");
}

TEST_F(GraphBolt, TypesAreThoseOfTheDescription) {
  put_typed();
  expect_bad("author:writes:paper", "author:writes:papers", "no node type 'papers'; there are author, paper");
  expect_bad("author:writes:paper", "writes", "'writes' is no SRC:NAME:DST");
  expect_bad("num: 4", "num: 5", "paper.npy: has 4 rows, there are 5 nodes");
  expect_bad("    type: paper\n", "    type: author\n", "metadata.yaml: 'author:writes:paper': no node type 'paper'");
}

}  // namespace
}  // namespace salient
