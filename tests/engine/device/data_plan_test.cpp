// tests/engine/device/data_plan_test.cpp - where features and graph go as GPU memory shrinks; no GPU is needed to plan.
#include "engine/device/data_plan.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "loaders/device_graph.h"
#include "loaders/graph_tiers.h"
#include "loaders/node_set.h"
#include "loaders/shards.h"
#include "tests/support/datasets.h"
#include "tests/support/scratch.h"
#include "tests/support/sparse_datasets.h"

namespace salient {
namespace {

constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

class PlanResidency : public testing::Test {
 protected:
  PlanResidency() {
    needs_.loaders.push_back(
        {.what = "batches",
         .num_slots = 4,
         .num_workers = 2,
         .batch = probe_batches(dataset_, {.rule = {{2, 2}}, .seeds = dataset_.train, .batch_size = 10, .seed = 1},
                                [](const MfgShape& mfg) { return 1000 * mfg.num_nodes; })});
    needs_.others.push_back({"others", 1000, 2000});
  }

  DataPlan plan(std::optional<std::int64_t> free_device_bytes, const ResidencyRequest& request = {}) const {
    return plan_residency(request, dataset_, needs_, {.host_bytes = kPlenty, .device_bytes = free_device_bytes});
  }

  /// "FEATURES GRAPH" with so much GPU memory.
  std::string residency(std::int64_t free_device_bytes, const ResidencyRequest& request = {}) const {
    const DataResidency found = plan(free_device_bytes, request).residency;
    const std::array features{"host", "device", "cached", "sharded", "partitioned"};  // as Residency has them
    return std::string(features[static_cast<std::size_t>(found.features)]) + (found.graph_entries ? " in part"
                                                                              : found.graph == GraphResidency::kDevice
                                                                                  ? " device"
                                                                                  : " host");
  }

  /// GPU memory of a choice; of cached features with no row.
  std::int64_t need_of(Residency features, GraphResidency graph) const {
    return plan(features == Residency::kCached ? 0 : kPlenty, {.features = features, .graph = graph}).device_bytes;
  }

  const Dataset dataset_ = test::generated_dataset(20'000, 20, 400, FeatureType::kF32);
  const std::int64_t feature_bytes_ =
      static_cast<std::int64_t>(dataset_.features.num_rows * dataset_.features.row_bytes);
  RunNeeds needs_;
};

TEST_F(PlanResidency, CountsTheWeightsOfEdgesWhereDrawsReadThem) {
  const std::vector<float> weights(dataset_.graph.indices.size(), 1.0F);
  Dataset weighted = dataset_;
  weighted.has_edge_weights = true;
  weighted.graph.entries.weights = weights;
  const auto bytes = [&](Draw draw) {
    needs_.sampling.rule.draw = draw;
    const DataPlan found = plan_residency({}, weighted, needs_, {.host_bytes = kPlenty, .device_bytes = kPlenty});
    EXPECT_EQ(found.residency.graph, GraphResidency::kDevice) << name_of(draw);
    return found.device_bytes;
  };
  EXPECT_EQ(bytes(Draw::kWeighted) - bytes(Draw::kUniform), static_cast<std::int64_t>(4 * weights.size()));
}

TEST_F(PlanResidency, HasAGraphWithTimesOnTheGpuWhereSeedsSeeTheirPastAlone) {
  const std::vector<std::int64_t> times(dataset_.graph.indices.size(), 1), node_times(dataset_.num_nodes(), 2);
  Dataset timed = dataset_;
  timed.has_edge_times = timed.has_node_times = true;
  timed.graph.entries.times = times;
  timed.node_times = node_times;
  const auto plan_by = [&](bool sees_times, std::optional<GraphResidency> graph = {}) {
    needs_.loaders[0].batch.sees_times = sees_times;
    return plan_residency({.graph = graph}, timed, needs_, {.host_bytes = kPlenty, .device_bytes = kPlenty});
  };
  const DataPlan whole = plan_by(true), none = plan_by(false);
  EXPECT_EQ(whole.residency.graph, GraphResidency::kDevice);
  EXPECT_EQ(none.residency.graph, GraphResidency::kHost) << "a node's loops are found in ascending rows alone";
  EXPECT_GE(whole.device_bytes - none.device_bytes,
            timed.graph.num_bytes() + static_cast<std::int64_t>(8 * times.size()));
  EXPECT_COMPLAINT((void)plan_by(false, GraphResidency::kDevice), ErrorKind::kUsage, "in the order of times");
}

TEST_F(PlanResidency, HasTheGraphOnTheGpuForResidentBatchesAloneWhereOthersCarryFeaturesOfEdges) {
  const Dataset edges = test::with_edge_features(dataset_, 8);
  const auto bytes = static_cast<std::int64_t>(edges.edge_features.num_rows * edges.edge_features.row_bytes);
  needs_.loaders[0].batch.entries.features = true;
  const auto plan_for = [&](std::int64_t device_bytes, const ResidencyRequest& request = {}) {
    return plan_residency(request, edges, needs_, {.host_bytes = kPlenty, .device_bytes = device_bytes});
  };
  EXPECT_EQ(plan_for(kPlenty).residency.graph, GraphResidency::kHost) << "eager batches need its sampler";
  EXPECT_FALSE(plan_for(kPlenty).residency.edge_features);
  EXPECT_COMPLAINT((void)plan_for(kPlenty, {.graph = GraphResidency::kDevice}), ErrorKind::kUsage,
                   "features or weights of edges");
  needs_.resident_edges = true;
  needs_.loaders[0].if_resident = MemoryLine{"resident batches", 0, 3000};
  const DataPlan resident = plan_for(kPlenty);
  EXPECT_EQ(resident.residency.graph, GraphResidency::kDevice);
  EXPECT_TRUE(resident.residency.edge_features);
  EXPECT_NE(to_text(resident).find("features of edges"), std::string::npos) << to_text(resident);
  needs_.resident_edges = false, needs_.loaders[0].batch.entries = {};
  EXPECT_EQ(resident.device_bytes - plan_for(kPlenty).device_bytes, bytes);
  needs_.resident_edges = true, needs_.loaders[0].batch.entries.features = true;
  EXPECT_EQ(plan_for(resident.device_bytes).residency, resident.residency);
  const DataResidency smaller = plan_for(resident.device_bytes - edges.graph.num_bytes()).residency;
  EXPECT_EQ(smaller, (DataResidency{.features = Residency::kDevice})) << "without them its batches are eager";
  for (const Residency features : {Residency::kHost, Residency::kCached}) {
    EXPECT_EQ(plan_for(kPlenty, {.features = features}).residency.graph, GraphResidency::kHost) << name_of(features);
    EXPECT_COMPLAINT((void)plan_for(kPlenty, {.features = features, .graph = GraphResidency::kDevice}),
                     ErrorKind::kUsage, "features or weights of edges");
  }
}

TEST_F(PlanResidency, CountsSamplingOnTheHostBesideResidentBatchesThatReadEdges) {
  const Dataset edges = test::with_edge_features(dataset_, 8);
  needs_.loaders[0].batch.entries.features = needs_.resident_edges = true;
  needs_.loaders.push_back(needs_.loaders[0]);  // of an evaluation that is not resident
  needs_.loaders[0].if_resident = MemoryLine{"resident batches", 0, 3000};
  const DataPlan found = plan_residency({}, edges, needs_, {.host_bytes = kPlenty, .device_bytes = kPlenty});
  EXPECT_EQ(found.residency.graph, GraphResidency::kDevice);
  const BatchNeed& batch = needs_.loaders[1].batch;
  EXPECT_EQ(found.host_bytes, 2 * batch.host_sampler_bytes + 4 * batch.slab(Residency::kDevice).host_bytes + 1000);
}

TEST_F(PlanResidency, TakesTheBestThatFits) {
  using enum Residency;
  const std::int64_t all = need_of(kDevice, GraphResidency::kDevice),
                     features = need_of(kDevice, GraphResidency::kHost);
  const std::int64_t cached = need_of(kCached, GraphResidency::kDevice);
  ASSERT_LT(features, all);
  EXPECT_EQ(residency(all), "device device");
  EXPECT_EQ(residency(all - 1), "device in part");
  EXPECT_EQ(residency(features), "device host");
  EXPECT_EQ(residency(features - 1), "cached device");
  EXPECT_EQ(residency(cached + feature_bytes_ / 2), "cached device");
  const DataPlan half = plan(cached + feature_bytes_ / 2);
  EXPECT_NEAR(static_cast<double>(half.residency.cached_rows), 0.45 * 20'000, 10) << "nine tenths of what is left";
  EXPECT_LE(half.device_bytes, *half.available.device_bytes);
  EXPECT_EQ(residency(cached), "cached host") << "too little for rows beside the graph";
  EXPECT_EQ(residency(need_of(kCached, GraphResidency::kHost)), "host host");
  EXPECT_EQ(residency(1), "host host") << "which check() then refuses";
}

TEST_F(PlanResidency, KeepsSomeRowsOfAGraphThatDoesNotFit) {
  using enum Residency;
  const auto all = static_cast<double>(dataset_.num_edges());
  const std::int64_t bounds = tiered_bounds_bytes(dataset_.num_nodes());
  const std::int64_t without = need_of(kDevice, GraphResidency::kDevice) - dataset_.graph.num_bytes() + bounds;
  const auto for_share = [&](double share) {  // of which nine tenths are used, and an entry more
    return without - bounds + static_cast<std::int64_t>((static_cast<double>(bounds) + 4 * share * all) / 0.9) + 8;
  };
  EXPECT_EQ(residency(for_share(0.25)), "device in part");
  EXPECT_EQ(residency(for_share(0.24)), "device host") << "the cores are faster";
  const DataPlan half = plan(for_share(0.5));
  EXPECT_NEAR(static_cast<double>(*half.residency.graph_entries), 0.5 * all, 2);
  EXPECT_LE(half.device_bytes, *half.available.device_bytes);
  EXPECT_NE(to_text(half).find("graph, 50 % of its entries on the GPU"), std::string::npos) << to_text(half);
  EXPECT_NE(summary_of(half, dataset_).find("GB, 50 % of its entries in GPU memory)"), std::string::npos);
  const std::int64_t cold = 4 * (dataset_.num_edges() - static_cast<EdgeOffset>(*half.residency.graph_entries));
  const DataPlan whole = plan(kPlenty, {.features = kDevice, .graph = GraphResidency::kDevice});
  EXPECT_EQ(half.host_bytes - whole.host_bytes, cold + bytes_to_order_rows(dataset_.num_nodes()));
  const FreeMemory little{.host_bytes = half.host_bytes - 1, .device_bytes = *half.available.device_bytes};
  const DataPlan on_host = plan_residency({}, dataset_, needs_, little);
  EXPECT_EQ(on_host.residency.graph, GraphResidency::kHost) << "too little memory to pin";
  EXPECT_EQ(residency(for_share(0.5), {.num_shards = 4}), "sharded device") << "in whole, beside fewer rows";
}

TEST_F(PlanResidency, TakesTheBytesThatTheGraphIsGiven) {
  using enum Residency;
  const std::int64_t bounds = tiered_bounds_bytes(dataset_.num_nodes());
  ResidencyRequest request{.graph = GraphResidency::kDevice, .graph_bytes = bounds + 4000};
  EXPECT_EQ(residency(kPlenty, request), "device in part");
  EXPECT_EQ(plan(kPlenty, request).residency.graph_entries, 1000U);
  for (const Residency features : {kHost, kCached, kSharded, kPartitioned}) {
    request.features = features;
    EXPECT_EQ(plan(kPlenty, request).residency.graph_entries, 1000U) << name_of(features);
  }
  request = {.graph = GraphResidency::kDevice, .graph_bytes = bounds};
  EXPECT_EQ(plan(kPlenty, request).residency.graph_entries, 0U);
  request.graph_bytes = bounds - 1;
  EXPECT_COMPLAINT((void)plan(kPlenty, request), ErrorKind::kUsage, "bounds of its rows take");
  EXPECT_COMPLAINT((void)plan(std::nullopt, request), ErrorKind::kNoDevice, "the graph in GPU memory");
  for (const std::int64_t enough : {dataset_.graph.num_bytes(), kPlenty}) {
    request.graph_bytes = enough;
    EXPECT_EQ(residency(kPlenty, request), "device device") << "of which all fits";
  }
  EXPECT_COMPLAINT(check(plan(1, request)), ErrorKind::kDeviceMemory, "GPU memory");
}

TEST_F(PlanResidency, TakesAWholeGraphThatIsSmallerThanTheBoundsOfItsRowsInTiers) {
  const Dataset few_edges = test::generated_dataset(20'000, 1, 4, FeatureType::kF32);
  ASSERT_LT(few_edges.graph.num_bytes(), tiered_bounds_bytes(few_edges.num_nodes()));
  const FreeMemory plenty{.host_bytes = kPlenty, .device_bytes = kPlenty};
  ResidencyRequest request{.graph = GraphResidency::kDevice, .graph_bytes = few_edges.graph.num_bytes()};
  const DataResidency whole = plan_residency(request, few_edges, needs_, plenty).residency;
  EXPECT_EQ(whole.graph, GraphResidency::kDevice);
  EXPECT_EQ(whole.graph_entries, std::nullopt);
  --request.graph_bytes;
  EXPECT_COMPLAINT((void)plan_residency(request, few_edges, needs_, plenty), ErrorKind::kUsage, "bounds of its rows");
}

TEST_F(PlanResidency, BlamesTheGraphIfItsOtherRowsHaveNoRoom) {
  const ResidencyRequest request{.graph = GraphResidency::kDevice,
                                 .graph_bytes = tiered_bounds_bytes(dataset_.num_nodes())};
  const DataPlan fits = plan(kPlenty, request);
  const auto topic_with = [&](std::int64_t host_bytes, const ResidencyRequest& of) {
    try {
      check(plan_residency(of, dataset_, needs_, {.host_bytes = host_bytes, .device_bytes = kPlenty}));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kHostMemory) << error.what();
      return error.topic();
    }
    return Topic::kNone;
  };
  EXPECT_EQ(topic_with(fits.host_bytes, request), Topic::kNone);
  EXPECT_EQ(topic_with(fits.host_bytes - 1, request), Topic::kDeviceGraph);
  EXPECT_EQ(topic_with(1, {.graph = GraphResidency::kHost}), Topic::kTrainingMemory);
}

TEST_F(PlanResidency, ShardsRowsThatFitTheGpusTogetherButNotOne) {
  using enum Residency;
  const std::int64_t all = need_of(kDevice, GraphResidency::kDevice);
  const ResidencyRequest of_four{.num_shards = 4};
  EXPECT_EQ(residency(all, of_four), "device device");
  EXPECT_EQ(residency(all - 1, of_four), "sharded device");
  const std::int64_t part = static_cast<std::int64_t>(shard_bytes(static_cast<std::size_t>(feature_bytes_), 4));
  const auto sharded_on = [&](GraphResidency graph) {  // with no byte for copies
    const std::int64_t needed = need_of(kDevice, graph) - feature_bytes_ + part;
    return plan(needed, {.features = kSharded, .graph = graph, .num_shards = 4});
  };
  const DataPlan sharded = sharded_on(GraphResidency::kDevice);
  EXPECT_EQ(sharded.residency.cached_rows, 0U);
  EXPECT_EQ(sharded.device_bytes, all - feature_bytes_ + part);
  EXPECT_NE(to_text(sharded).find("features, one of 4 parts"), std::string::npos) << to_text(sharded);
  EXPECT_NE(summary_of(sharded, dataset_).find("in the memory of all GPUs of the host"), std::string::npos);
  EXPECT_EQ(residency(sharded.device_bytes, of_four), "sharded device");
  EXPECT_EQ(residency(sharded.device_bytes - 1, of_four), "sharded in part");
  EXPECT_EQ(residency(sharded_on(GraphResidency::kHost).device_bytes - 1, of_four), "cached device");
  EXPECT_EQ(residency(1, {.features = kSharded, .num_shards = 4}), "sharded host") << "which check() then refuses";
  EXPECT_EQ(residency(kPlenty, {.features = kSharded, .num_shards = 1}), "sharded device") << "of one, as asked for";
  const DataPlan half = plan(sharded.device_bytes + feature_bytes_ / 2, of_four);
  EXPECT_NEAR(static_cast<double>(half.residency.cached_rows), 0.45 * 20'000, 20) << "copies of what others have";
  EXPECT_LE(half.device_bytes, *half.available.device_bytes);
  EXPECT_NE(to_text(half).find("copies of 45 % of the feature rows"), std::string::npos) << to_text(half);
  EXPECT_EQ(plan(kPlenty, {.features = kSharded, .num_shards = 4}).residency.cached_rows, 15'000U) << "all of them";
  EXPECT_EQ(plan(kPlenty, {.features = kSharded, .num_shards = 1}).residency.cached_rows, 0U);
  const std::int64_t hundred = 160'000 + node_set_bytes(20'000);
  const ResidencyRequest of_hundred{.features = kSharded, .cache_bytes = hundred, .num_shards = 4};
  EXPECT_EQ(plan(kPlenty, of_hundred).residency.cached_rows, 100U);
  EXPECT_EQ(plan(kPlenty, of_hundred).device_bytes, sharded.device_bytes + hundred);
  EXPECT_COMPLAINT((void)plan(std::nullopt, {.features = kSharded}), ErrorKind::kNoDevice, "there is no GPU");
}

TEST_F(PlanResidency, KeepsToTheRequest) {
  ResidencyRequest request{.features = Residency::kCached, .cache_bytes = 1'600'000};
  EXPECT_EQ(residency(kPlenty, request), "cached device");
  EXPECT_EQ(plan(kPlenty, request).residency.cached_rows, 1000U);
  request = {.features = Residency::kCached, .graph = GraphResidency::kHost};
  EXPECT_EQ(residency(kPlenty, request), "cached host");
  EXPECT_EQ(plan(kPlenty, request).residency.cached_rows, 20'000U) << "never more than there are";
  EXPECT_EQ(residency(0, request), "cached host") << "with no row, as it was asked for";
  request.features = Residency::kHost;
  EXPECT_EQ(residency(kPlenty, request), "host host");
  EXPECT_EQ(residency(1, {.features = Residency::kDevice, .graph = GraphResidency::kDevice}), "device in part");
}

TEST_F(PlanResidency, PartsAreTakenWhereTheyAreAskedFor) {
  ResidencyRequest request{.features = Residency::kPartitioned, .num_ranks = 4};
  EXPECT_EQ(residency(kPlenty, request), "partitioned device");
  EXPECT_EQ(residency(1, request), "partitioned host");
  EXPECT_EQ(plan(kPlenty, request).residency.cached_rows, 500U) << "a tenth of 5000";
  request.cache_bytes = 1'600'000;
  EXPECT_EQ(plan(kPlenty, request).residency.cached_rows, 1000U);
  request.cache_bytes = kPlenty;
  EXPECT_EQ(plan(kPlenty, request).residency.cached_rows, 15'000U) << "never more than the others have";
  const std::int64_t four = plan(kPlenty, {.features = Residency::kPartitioned, .num_ranks = 4}).host_bytes;
  const std::int64_t two = plan(kPlenty, {.features = Residency::kPartitioned, .num_ranks = 2}).host_bytes;
  EXPECT_NEAR(static_cast<double>(two - four), 1.1 * static_cast<double>(feature_bytes_) / 4, 2);
  request = {.features = Residency::kPartitioned, .num_ranks = 4, .part_size = 15'000};
  EXPECT_EQ(plan(kPlenty, request).residency.cached_rows, 500U) << "whatever this rank's part has";
  EXPECT_EQ(plan(kPlenty, request).host_bytes - four, feature_bytes_ / 2);
}

TEST(PlanOfSparseFeatures, KeepsThemOnTheHost) {
  const Dataset dataset = test::sparse_twins(2000, 10, 300).sparse;
  const auto probe = [](const Dataset& of) {
    return probe_batches(of, {.rule = {{2, 2}}, .seeds = of.train, .batch_size = 10, .seed = 1},
                         [](const MfgShape&) { return 0; });
  };
  const BatchNeed batch = probe(dataset);
  EXPECT_GT(batch.slab(Residency::kHost).host_bytes, 0);
  EXPECT_LT(batch.slab(Residency::kHost).host_bytes,
            probe(test::sparse_twins(2000, 10, 300).dense).slab(Residency::kHost).host_bytes);
  const RunNeeds needs{.loaders = {{.what = "batches", .num_slots = 4, .num_workers = 2, .batch = batch}}};
  const FreeMemory plenty{.host_bytes = kPlenty, .device_bytes = kPlenty};
  const DataPlan plan = plan_residency({}, dataset, needs, plenty);
  EXPECT_EQ(plan.residency, (DataResidency{.features = Residency::kHost, .graph = GraphResidency::kDevice}));
  EXPECT_TRUE(summary_of(plan, dataset).starts_with("sparse features (")) << summary_of(plan, dataset);
  EXPECT_EQ(plan_residency({.features = Residency::kHost}, dataset, needs, plenty).residency, plan.residency);
  for (const Residency elsewhere : {Residency::kDevice, Residency::kCached, Residency::kSharded})
    for (const auto& gpu : {std::optional(kPlenty), std::optional<std::int64_t>()})
      EXPECT_COMPLAINT(
          (void)plan_residency({.features = elsewhere}, dataset, needs, {.host_bytes = kPlenty, .device_bytes = gpu}),
          ErrorKind::kUsage, "sparse ones, as this data set's, stay in host memory");
}

TEST_F(PlanResidency, WithoutAGpuAllIsOnTheHost) {
  EXPECT_EQ(plan(std::nullopt).residency, DataResidency());
  EXPECT_EQ(plan(std::nullopt).device_bytes, 2000) << "a line that others wrote";
  EXPECT_COMPLAINT((void)plan(std::nullopt, {.features = Residency::kDevice}), ErrorKind::kNoDevice, "there is no GPU");
  EXPECT_COMPLAINT((void)plan(std::nullopt, {.features = Residency::kCached}), ErrorKind::kNoDevice, "feature rows");
  EXPECT_COMPLAINT((void)plan(std::nullopt, {.graph = GraphResidency::kDevice}), ErrorKind::kNoDevice, "the graph");
  EXPECT_NO_THROW((void)plan(std::nullopt, {.features = Residency::kHost, .graph = GraphResidency::kHost}));
}

TEST_F(PlanResidency, SumsItsLines) {
  for (const Residency features : {Residency::kHost, Residency::kDevice, Residency::kCached})
    for (const GraphResidency graph : {GraphResidency::kHost, GraphResidency::kDevice}) {
      const DataPlan found = plan(kPlenty, {.features = features, .graph = graph});
      std::int64_t host = 0, device = 0;
      for (const MemoryLine& line : found.lines) {
        host += line.host_bytes;
        device += line.device_bytes;
      }
      EXPECT_EQ(found.host_bytes, host);
      EXPECT_EQ(found.device_bytes, device);
      const bool is_cached = features == Residency::kCached;
      EXPECT_EQ(found.residency.cached_rows, is_cached ? 20'000U : 0U);
      const std::int64_t rows = features == Residency::kHost ? 0 : feature_bytes_;
      const std::int64_t graph_bytes = graph == GraphResidency::kHost ? 0 : dataset_.graph.num_bytes();
      const BatchNeed& batch = needs_.loaders[0].batch;
      const std::int64_t samplers = graph == GraphResidency::kHost ? 0 : 3 * batch.device_sampler_bytes;
      EXPECT_EQ(device, rows + graph_bytes + samplers + 3 * batch.slab(features).device_bytes + 2000);
      const std::size_t num_nodes = dataset_.num_nodes();
      EXPECT_EQ(host, (graph == GraphResidency::kHost ? 2 * batch.host_sampler_bytes : 0) +
                          4 * batch.slab(features).host_bytes + 1000 +
                          (is_cached ? node_set_bytes(num_nodes) + bytes_to_choose(CachePolicy::kVip, num_nodes) : 0));
    }
}

TEST_F(PlanResidency, RefusesWhatDoesNotFitAndSaysWhatIsTooLarge) {
  const auto topic_of = [&](const ResidencyRequest& request) {
    try {
      check(plan(1, request));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kDeviceMemory);
      return error.topic();
    }
    return Topic::kNone;
  };
  EXPECT_EQ(topic_of({}), Topic::kTrainingMemory);
  EXPECT_EQ(topic_of({.features = Residency::kDevice}), Topic::kDeviceFeatures);
  EXPECT_EQ(topic_of({.graph = GraphResidency::kDevice}), Topic::kDeviceGraph);
  DataPlan small = plan(std::nullopt);
  small.available.host_bytes = small.host_bytes;
  EXPECT_NO_THROW(check(small));
  small.available.host_bytes -= 1;
  EXPECT_COMPLAINT(check(small), ErrorKind::kHostMemory, "of host memory");
}

TEST_F(PlanResidency, PrintsItself) {
  const DataPlan found = plan(kPlenty, {.features = Residency::kCached, .cache_bytes = 3'200'000});
  const std::string table = to_text(found);
  for (const char* part : {"memory plan", "GPU", "batches, 4 slots", "cache of 10 % of the feature rows", "sum (",
                           "available now", "1099.51 GB", "3.2 MB"})
    EXPECT_NE(table.find(part), std::string::npos) << part << " in\n" << table;
  EXPECT_EQ(table.find("0.00 GB"), std::string::npos) << table;
  EXPECT_EQ(to_text(plan(std::nullopt)).find("GPU"), std::string::npos);
  EXPECT_NE(summary_of(found, dataset_).find("10 % of them on the GPU too, sampling on the GPU"), std::string::npos)
      << summary_of(found, dataset_);
}

/// Papers with rows, authors without.
Dataset two_types() {
  Dataset typed = test::generated_dataset(200, 5, 4);
  typed.types.node_types = {{.name = "paper", .count = 150}, {.name = "author", .count = 50}};
  typed.type_features = {{.rows = typed.features}, {}};
  return typed;
}

TEST_F(PlanResidency, PutsTheDenseRowsOfTypedGraphsWhereThereIsRoom) {
  const Dataset typed = two_types();
  const auto rows = static_cast<std::int64_t>(typed.features.num_rows * typed.features.row_bytes);
  const auto plan_of = [&](const ResidencyRequest& request, std::optional<std::int64_t> device_bytes) {
    return plan_residency(request, typed, RunNeeds{}, {.host_bytes = kPlenty, .device_bytes = device_bytes});
  };
  constexpr DataResidency kAll{.features = Residency::kDevice, .graph = GraphResidency::kDevice};
  const DataPlan plan = plan_of({}, kPlenty);
  EXPECT_EQ(plan.residency, kAll);
  EXPECT_EQ(plan.device_bytes, rows + typed.graph.num_bytes());
  EXPECT_EQ(plan_of({}, rows + typed.graph.num_bytes()).residency, kAll);
  EXPECT_EQ(plan_of({}, rows + typed.graph.num_bytes() - 1).residency,
            (DataResidency{.features = Residency::kDevice, .graph = GraphResidency::kHost}));
  const DataResidency half =  // of what is left nine tenths
      plan_of({.graph = GraphResidency::kDevice}, typed.graph.num_bytes() + rows / 2).residency;
  EXPECT_EQ(half, (DataResidency{.features = Residency::kCached,
                                 .cached_bytes = static_cast<std::size_t>(rows / 2 * 9 / 10),
                                 .graph = GraphResidency::kDevice}));
  const DataPlan cached = plan_of({.features = Residency::kCached, .cache_bytes = rows / 4}, kPlenty);
  EXPECT_EQ(cached.residency.cached_bytes, static_cast<std::size_t>(rows / 4));
  EXPECT_EQ(cached.device_bytes, rows / 4 + typed.graph.num_bytes());
  EXPECT_NE(to_text(cached).find("cache of 25 % of the dense feature rows"), std::string::npos) << to_text(cached);
  EXPECT_EQ(plan_of({.features = Residency::kSharded}, kPlenty).residency.features, Residency::kSharded);
  EXPECT_EQ(plan_of({}, 10).residency, DataResidency{});
  EXPECT_EQ(plan_of({.features = Residency::kHost}, kPlenty).residency,
            (DataResidency{.graph = GraphResidency::kDevice}));
  EXPECT_EQ(plan_of({.features = Residency::kHost, .graph = GraphResidency::kHost}, kPlenty).residency,
            DataResidency{});
  EXPECT_EQ(plan_of({}, std::nullopt).residency, DataResidency{});
  EXPECT_THROW(plan_of({.features = Residency::kDevice}, std::nullopt), Error);
  const ResidencyRequest in_parts{
      .features = Residency::kPartitioned, .num_ranks = 4, .part_bytes = static_cast<std::size_t>(rows / 2)};
  const DataPlan parts = plan_of(in_parts, std::nullopt);
  EXPECT_EQ(parts.residency.features, Residency::kPartitioned);
  EXPECT_EQ(parts.residency.cached_bytes, static_cast<std::size_t>(rows / 4 / 10)) << "of a mean part a tenth";
  EXPECT_GE(parts.host_bytes, rows / 2 + rows / 40);
  EXPECT_THROW(plan_of({.graph_bytes = 100}, kPlenty), Error);
}

TEST_F(PlanResidency, KeepsSparseRowsOfTypesInHostMemory) {
  Dataset typed = two_types();
  typed.type_features = {{}, {}};
  const auto plan_of = [&](const ResidencyRequest& request) {
    return plan_residency(request, typed, RunNeeds{}, {.host_bytes = kPlenty, .device_bytes = kPlenty}).residency;
  };
  EXPECT_EQ(plan_of({}), (DataResidency{.graph = GraphResidency::kDevice}));
  for (const Residency asked : {Residency::kDevice, Residency::kCached, Residency::kSharded, Residency::kPartitioned})
    EXPECT_THROW(plan_of({.features = asked}), Error) << name_of(asked);
}

}  // namespace
}  // namespace salient
