// tests/store/dataset_facts_test.cpp - every fact survives a way to another process and one to dataset.json.
#include "store/dataset_facts.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "store/dataset_sharing.h"
#include "store/store_arrays.h"
#include "store/store_manifest.h"

namespace salient {
namespace {

constexpr FeatureShape kShape{.dim = 3, .type = FeatureType::kF32, .layout = FeatureLayout::kCsr};

/// No fact has its default.
DatasetFacts unusual_facts() {
  return {.name = "mine",
          .source_kind = "edges",
          .task = Task::kMultiLabel,
          .num_classes = 7,
          .feature_dim = 3,
          .feature_type = FeatureType::kF32,
          .fp8_scale = 0.25F,
          .feature_layout = FeatureLayout::kCsr,
          .is_symmetric = true,
          .has_edge_weights = true,
          .has_edge_times = true,
          .has_node_times = true,
          .edge_feature_dim = 4,
          .edge_feature_type = FeatureType::kF32,
          .types = {.node_types = {{.name = "a", .count = 2, .features = kShape}, {.name = "b", .count = 1}},
                    .relations = {{.src = 0, .dst = 1, .name = "r", .num_entries = 2},
                                  {.src = 1, .dst = 0, .name = "rev_r", .num_entries = 2, .reverse_of = 0}}},
          .has_links = true,
          .has_link_times = true,
          .class_names = {"a", "b", "c", "d", "e", "f", "g"},
          .column_names = {"x", "y", "z"},
          .feature_origin = {{"kind", "random"}, {"seed", "3"}},
          .target_scales = {2.5, 0.1}};
}

TEST(DatasetFacts, TheListHasEveryField) {
  DatasetFacts copy;
  std::size_t num_facts = 0;
  const DatasetFacts original = unusual_facts();
  visit_facts(copy, [&](const std::string& name, auto& fact) {
    ++num_facts;
    visit_facts(original, [&](const std::string& other, const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(fact)>, std::decay_t<decltype(value)>>)
        if (name == other) fact = value;
    });
  });
  EXPECT_EQ(num_facts, 21u);
  EXPECT_EQ(copy, original);
}

TEST(DatasetFacts, OtherProcessesGetThemAll) {
  Dataset dataset;
  dataset.facts() = unusual_facts();
  const Dataset mapped = map_described(describe_shared(dataset, SharedMemory()));
  EXPECT_EQ(mapped.facts(), unusual_facts());
  EXPECT_EQ(mapped.graph.slots->num_rows(), 3u) << "complete";
}

TEST(DatasetFacts, TheManifestHasThemAll) {
  StoreManifest manifest;
  manifest.facts() = unusual_facts();
  manifest.types = {};         // below
  manifest.has_links = false;  // likewise
  manifest.has_link_times = false;
  manifest.fp8_scale = 0;        // of fp8 alone
  manifest.class_names.clear();  // in files of their own
  manifest.column_names.clear();
  manifest.target_scales.clear();  // measured when the store is opened
  manifest.num_nodes = 2;
  for (const char* name : {"indptr.npy", "indices.npy", "labels.npy", "train.npy", "valid.npy", "test.npy",
                           "feature_begin.npy", "feature_columns.npy", "feature_values.npy", "edge_weights.npy",
                           "edge_time.npy", "node_times.npy", "edge_features.npy"})
    manifest.files[name] = {};
  EXPECT_EQ(parse_manifest(manifest_text(manifest), "FILE"), manifest);
  for (const char* name : {"feature_begin.npy", "feature_columns.npy", "feature_values.npy"})
    manifest.files.erase(name);
  manifest.files["features.npy"] = {};
  manifest.feature_layout = FeatureLayout::kDense;
  manifest.feature_type = FeatureType::kFp8;
  manifest.fp8_scale = 0x1p-15F;
  EXPECT_EQ(parse_manifest(manifest_text(manifest), "FILE"), manifest);
}

TEST(DatasetFacts, TheManifestHasThoseOfTypedGraphs) {
  StoreManifest manifest;
  manifest.types = unusual_facts().types;
  manifest.types.node_types[1].features = {.dim = 2, .type = FeatureType::kFp8, .fp8_scale = 0.25F};
  manifest.name = "mine";
  manifest.set_feature_shape(kShape);
  manifest.num_nodes = 3;
  manifest.num_edges = 4;
  for (const char* name : {"indptr.npy", "indices.npy", "labels.npy", "train.npy", "valid.npy", "test.npy",
                           "feature_begin.0.npy", "feature_columns.0.npy", "feature_values.0.npy", "features.1.npy"})
    manifest.files[name] = {};
  const std::string text = manifest_text(manifest);
  EXPECT_NE(text.find("\"format_version\": 2"), std::string::npos);
  EXPECT_EQ(parse_manifest(text, "FILE"), manifest);
  manifest.has_links = true;
  EXPECT_THROW(parse_manifest(manifest_text(manifest), "FILE"), Error) << "files of links are missing";
  for (const auto& [ends, relations, times] : kLinkArrays)
    for (const char* name : {ends.file, relations.file}) manifest.files[name] = {};
  EXPECT_EQ(parse_manifest(manifest_text(manifest), "FILE"), manifest);
}

TEST(DatasetFacts, RowsOfFeaturesAndLabels) {
  EXPECT_EQ(unusual_facts().feature_row_bytes(), 12u);
  EXPECT_EQ(unusual_facts().label_type(), (LabelType{Task::kMultiLabel, 7}));
  EXPECT_EQ(DatasetFacts{}.label_type(), LabelType{});
}

}  // namespace
}  // namespace salient
