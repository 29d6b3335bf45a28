// tests/store/synthetic_test.cpp - generated data are the same everywhere, well-formed, and learnable as promised.
#include "store/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/half.h"
#include "store/dataset_checks.h"
#include "store/dataset_summary.h"
#include "store/synthetic_edges.h"
#include "tests/support/dataset_digest.h"

namespace salient {
namespace {

using test::digest_text;

TEST(Synthetic, SameBytesForAnyThreadCountAndOtherBytesForAnotherSeed) {
  SyntheticOptions options = synthetic_like("arxiv", 0.05);
  const std::string expected = digest_text(make_synthetic_dataset(options, 1));
  EXPECT_EQ(digest_text(make_synthetic_dataset(options, 2)), expected);
  EXPECT_EQ(digest_text(make_synthetic_dataset(options, 4)), expected);
  options.seed = 1;
  EXPECT_NE(digest_text(make_synthetic_dataset(options)), expected);
}

TEST(Synthetic, GraphsKeepTheRulesOfAStore) {
  for (const SyntheticOptions& options :
       {synthetic_of_size(1, 1, 3, 1), synthetic_of_size(2, 1, 0, 2), synthetic_of_size(50, 8, 5, 3),
        synthetic_of_size(3000, 40, 7, 20), synthetic_like("papers100M", 0.0005), synthetic_like("products", 0.001)}) {
    SCOPED_TRACE(options.name + " " + std::to_string(options.num_nodes));
    const Dataset dataset = make_synthetic_dataset(options);
    const DatasetChecks checks("generated");
    checks.check_indptr(dataset.graph.indptr, static_cast<std::uint64_t>(dataset.num_edges()));
    checks.check_indices(dataset.graph);
    checks.check_rows_ascend(dataset.graph, true);
    checks.check_reverse_edges(dataset.graph);
    checks.check_self_loops(dataset.graph, 0);
    checks.check_labels(dataset.label_table(), dataset.num_classes);
    const std::array splits = {SplitView{"train", dataset.train}, SplitView{"valid", dataset.valid},
                               SplitView{"test", dataset.test}};
    checks.check_splits(splits, dataset.label_table());
    checks.check_finite(dataset.features, dataset.feature_type);
  }
}

TEST(Synthetic, FeaturesOfEdgesAreNoiseThatAnEdgeSharesWithItsReverse) {
  const Dataset plain = make_synthetic_dataset(synthetic_of_size(3000, 12, 7, 20));
  const Dataset dataset = with_synthetic_edge_features(plain, 6);
  EXPECT_EQ(dataset.edge_features.num_rows, static_cast<std::size_t>(plain.num_edges()));
  EXPECT_EQ(dataset.edge_features.row_bytes, 12U);
  const DatasetChecks checks("generated");
  checks.check_finite(dataset.edge_features, dataset.edge_feature_type);
  checks.check_reverse_edges(dataset.graph, dataset.edge_features);
  const auto* const halves = reinterpret_cast<const std::uint16_t*>(dataset.edge_features.data);
  double sum = 0, squares = 0;
  const std::size_t count = dataset.edge_features.num_rows * 6;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = half_to_float(halves[i]);
    sum += value, squares += value * value;
  }
  EXPECT_NEAR(sum / static_cast<double>(count), 0, 0.02);
  EXPECT_NEAR(squares / static_cast<double>(count), 1, 0.02);
  EXPECT_NE(dataset.fingerprint, plain.fingerprint);
  EXPECT_EQ(digest_text(with_synthetic_edge_features(plain, 6)), digest_text(dataset));
  EXPECT_NE(digest_text(with_synthetic_edge_features(plain, 5)), digest_text(dataset));
}

TEST(Synthetic, ShapeIsThatOfTheOriginal) {
  SyntheticOptions options = synthetic_like("papers100M", 0.002);
  options.feature_dim = 0;
  const Dataset dataset = make_synthetic_dataset(options);
  const DatasetSummary summary = summarise(dataset);
  EXPECT_EQ(dataset.num_nodes(), 222'119u);
  EXPECT_EQ(dataset.train.size(), 2414u);
  EXPECT_EQ(dataset.num_classes, 172);
  EXPECT_NEAR(summary.mean_degree, 29, 2.5);
  EXPECT_LT(summary.median_degree, 16u);
  EXPECT_GT(summary.max_degree, 5000u) << "a heavy tail";
  std::uint64_t few = 0;
  for (std::size_t v = 0; v < dataset.num_nodes(); ++v) few += dataset.graph.degree(v) <= 5;
  EXPECT_NEAR(static_cast<double>(few) / static_cast<double>(dataset.num_nodes()), 0.27, 0.04);
  EXPECT_EQ(summary.unlabelled_nodes, dataset.num_nodes() - 2414 - 250 - 428) << "as in the original";
}

/// Test accuracy of the class mean nearest to `features`, which is what a linear model can do with them.
double nearest_mean_accuracy(const Dataset& dataset, const std::vector<float>& features) {
  const auto dim = static_cast<std::size_t>(dataset.feature_dim);
  const auto num_classes = static_cast<std::size_t>(dataset.num_classes);
  std::vector<double> mean(num_classes * dim), count(num_classes, 1e-9);
  for (const NodeId v : dataset.train) {
    const auto label = static_cast<std::size_t>(dataset.labels[v]);
    count[label] += 1;
    for (std::size_t j = 0; j < dim; ++j) mean[label * dim + j] += static_cast<double>(features[v * dim + j]);
  }
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] /= count[i / dim];
  double right = 0;
  for (const NodeId v : dataset.test) {
    std::size_t best = 0;
    double best_distance = INFINITY;
    for (std::size_t c = 0; c < num_classes; ++c) {
      double distance = 0;
      for (std::size_t j = 0; j < dim; ++j) {
        const double difference = static_cast<double>(features[v * dim + j]) - mean[c * dim + j];
        distance += difference * difference;
      }
      if (distance < best_distance) best = c, best_distance = distance;
    }
    right += static_cast<std::size_t>(dataset.labels[v]) == best;
  }
  return right / static_cast<double>(dataset.test.size());
}

std::vector<float> averaged_with_neighbours(const Dataset& dataset, const std::vector<float>& features) {
  const auto dim = static_cast<std::size_t>(dataset.feature_dim);
  std::vector<float> averaged = features;
  for (std::size_t v = 0; v < dataset.num_nodes(); ++v) {
    for (const NodeId u : dataset.graph.row(v))
      for (std::size_t j = 0; j < dim; ++j) averaged[v * dim + j] += features[u * dim + j];
    for (std::size_t j = 0; j < dim; ++j) averaged[v * dim + j] /= static_cast<float>(dataset.graph.degree(v) + 1);
  }
  return averaged;
}

TEST(Synthetic, FeaturesTellSomethingAndNeighboursMuchMore) {
  SyntheticOptions options = synthetic_like("papers100M", 0.0002);
  const std::uint64_t half = options.num_nodes / 2;  // more training nodes than the original has at this scale
  options.split = {half, 100, 800};
  const Dataset dataset = make_synthetic_dataset(options);
  std::vector<float> features(dataset.num_nodes() * static_cast<std::size_t>(dataset.feature_dim));
  const auto* halves = reinterpret_cast<const std::uint16_t*>(dataset.features.data);
  for (std::size_t i = 0; i < features.size(); ++i) features[i] = half_to_float(halves[i]);
  EXPECT_NEAR(nearest_mean_accuracy(dataset, features), 0.27, 0.06) << "features alone; 33 % with all training nodes";
  features = averaged_with_neighbours(dataset, features);
  const double one_hop = nearest_mean_accuracy(dataset, features);
  features = averaged_with_neighbours(dataset, features);
  const double two_hops = nearest_mean_accuracy(dataset, features);
  EXPECT_GT(one_hop, 0.5);
  EXPECT_NEAR(two_hops, 0.64, 0.05);
}

TEST(Synthetic, AClusteredSplitIsInFewCommunitiesOfTheSameGraph) {
  SyntheticOptions options = synthetic_like("papers100M", 0.001);
  const Dataset scattered = make_synthetic_dataset(options);
  cluster_split(options, 0.05);
  const Dataset clustered = make_synthetic_dataset(options);
  EXPECT_TRUE(std::ranges::equal(clustered.graph.indices, scattered.graph.indices));
  EXPECT_NE(clustered.fingerprint, scattered.fingerprint);
  const auto entries_in_split = [](const Dataset& dataset) {  // of its rows: the share that stays in it
    std::set<NodeId> split(dataset.train.begin(), dataset.train.end());
    split.insert(dataset.valid.begin(), dataset.valid.end());
    split.insert(dataset.test.begin(), dataset.test.end());
    EXPECT_EQ(split.size(), dataset.train.size() + dataset.valid.size() + dataset.test.size());
    double inside = 0, all = 0;
    for (const NodeId v : split)
      for (const NodeId u : dataset.graph.row(v)) all += 1, inside += split.contains(u);
    return inside / all;
  };
  EXPECT_NEAR(entries_in_split(scattered), 0.014, 0.01) << "as many as there are labelled nodes";
  EXPECT_NEAR(entries_in_split(clustered), 0.55 * 0.014 / 0.05, 0.03)
      << "homophily x labelled share of the communities";
  options.train_communities = 1e-9;  // too few for the split, which takes what it needs
  EXPECT_GT(entries_in_split(make_synthetic_dataset(options)), 0.3);
}

TEST(Synthetic, EdgesThatStayInsideMakeClearCommunitiesWithoutHubs) {
  SyntheticOptions options = synthetic_like("papers100M", 0.001);
  keep_edges_inside(options, 0);
  EXPECT_EQ(options.homophily, 0.55) << "as it was";
  keep_edges_inside(options, 0.95);
  options.label_fidelity = 1;
  options.split = {options.num_nodes, 0, 0};
  const Dataset dataset = make_synthetic_dataset(options);
  double inside = 0, most = 0;
  for (NodeId v = 0; v < dataset.num_nodes(); ++v) {
    most = std::max(most, static_cast<double>(dataset.graph.degree(v)));
    for (const NodeId u : dataset.graph.row(v)) inside += dataset.labels[u] == dataset.labels[v];
  }
  EXPECT_GT(inside / static_cast<double>(dataset.num_edges()), 0.93);
  EXPECT_LE(most, 293);
}

TEST(Synthetic, NamesAreParsedStrictly) {
  EXPECT_EQ(parse_synthetic_name("synthetic:papers100M:0.01:0.05:0.95").homophily, 0.95);
  EXPECT_EQ(parse_synthetic_name("synthetic:papers100M:0.01:0.05").train_communities, 0.05);
  EXPECT_EQ(parse_synthetic_name("synthetic:papers100M:0.01").train_communities, 1);
  EXPECT_TRUE(is_synthetic_name("synthetic:arxiv"));
  EXPECT_FALSE(is_synthetic_name("ogbn-arxiv"));
  EXPECT_EQ(parse_synthetic_name("synthetic:products").num_nodes, 2'449'029u);
  EXPECT_EQ(parse_synthetic_name("synthetic:products:0.5").num_nodes, 1'224'514u);
  for (const char* bad : {"synthetic:", "synthetic:mag", "synthetic:arxiv:", "synthetic:arxiv:0", "synthetic:arxiv:2",
                          "synthetic:arxiv:half", "synthetic:arxiv:0.5:0", "synthetic:arxiv:0.5:1.1",
                          "synthetic:arxiv:0.5:1:1.1", "synthetic:arxiv:0.5:1:", "synthetic:arxiv:0.5:1:1:1"}) {
    try {
      parse_synthetic_name(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage) << bad;
    }
  }
}

}  // namespace
}  // namespace salient
