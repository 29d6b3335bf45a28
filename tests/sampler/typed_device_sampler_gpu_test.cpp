// tests/sampler/typed_device_sampler_gpu_test.cpp - typed batches sampled on the GPU are the host's, array by array.
//
// A case that differs says its schema and the first difference, and the next case follows: one run tells all.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "loaders/device_graph.h"
#include "sampler/batch_sampler.h"
#include "sampler/reference_sampler.h"
#include "store/synthetic_typed.h"
#include "tests/support/graphs.h"
#include "tests/support/sampled_arrays.h"
#include "tests/support/sampled_mfg.h"
#include "tests/support/typed_rows.h"

namespace salient {
namespace {

std::string text_of(const CsrGraph& graph, const SamplingRule& rule) {
  std::ostringstream text;
  const SlotTable& slots = *graph.slots;
  text << "types";
  for (std::size_t t = 0; t < slots.num_types(); ++t) text << ' ' << slots.num_nodes_of(t) << 'x' << slots.num_slots[t];
  text << ", " << graph.indices.size() << " entries, " << name_of(rule.draw) << ", fanouts";
  for (std::size_t h = 0; h < rule.fanouts.size(); ++h) {
    text << " |";
    for (std::size_t r = 0; r < std::min<std::size_t>(slots.relations.size(), 12); ++r)
      text << ' ' << rule.fanout_of(r, h);
  }
  return text.str();
}

/// Batches of two samplers, until they differ.
std::string difference_of(BatchSampler& found, BatchSampler& expected, std::span<const NodeId> seeds, BatchKey key) {
  try {
    const std::string difference =
        test::first_difference(test::arrays_of(found, seeds, key), test::arrays_of(expected, seeds, key));
    return difference.empty() ? "" : std::to_string(seeds.size()) + " seeds: " + difference;
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

void expect_equal_batches(std::uint32_t first, std::uint32_t end, const test::RowsOptions& options) {
  int num_equal = 0, num_different = 0;
  for (std::uint32_t seed = first; seed < end && num_different < 20; ++seed) {
    std::mt19937 random(seed);
    const test::TypedRows rows = test::random_rows(random, options);
    SamplingRule rule = test::random_rule(random, rows);
    const DeviceGraph graph(rows.view());
    const std::unique_ptr<BatchSampler> on_device = graph.make_sampler(rule);
    HostBatchSampler on_host(rows.view(), rule);
    for (std::uint32_t batch = 0; batch < 4; ++batch) {  // one sampler: its memory is there from the batch before
      const std::vector<NodeId> seeds =
          batch == 2 ? std::vector<NodeId>{} : test::random_seeds(random, rows.slots.num_nodes());
      const std::string difference = difference_of(*on_device, on_host, seeds, {seed, 1, batch});
      difference.empty() ? ++num_equal : ++num_different;
      if (difference.empty()) continue;
      ADD_FAILURE() << "case " << seed << ", batch " << batch << ", " << difference << "\n  "
                    << text_of(rows.view(), rule);
      break;
    }
  }
  std::printf("%d batches equal, %d cases differ\n", num_equal, num_different);
}

TEST(TypedDeviceSampler, EqualsTheHostOverRandomSchemas) { expect_equal_batches(0, 200, {}); }
TEST(TypedDeviceSampler, EqualsTheHostWithManyRelations) { expect_equal_batches(1000, 1020, {3, 600, 20}); }
TEST(TypedDeviceSampler, EqualsTheHostWithManyNodes) { expect_equal_batches(2000, 2020, {5, 12, 5000}); }

TEST(TypedDeviceSampler, EqualsTheHostOnATwinOfOgbnMag) {
  SyntheticTypedOptions options = synthetic_typed_like("mag", 0.05);
  for (SyntheticTypedOptions::Type& type : options.types) type.feature_dim = 0;
  const Dataset dataset = make_synthetic_dataset(options);
  const DeviceGraph graph(dataset.graph);
  for (const Draw draw : {Draw::kUniform, Draw::kWithReplacement, Draw::kLabor})
    for (const std::vector<int>& fanouts : {std::vector{15, 10, 5}, {25, 20}, {kAllNeighbors, 3}, {2, kAllNeighbors}}) {
      const SamplingRule rule{fanouts, draw};
      const std::unique_ptr<BatchSampler> on_device = graph.make_sampler(rule);
      HostBatchSampler on_host(dataset.graph, rule);
      for (std::uint32_t batch = 0; batch < 3; ++batch) {
        const auto seeds = dataset.train.subspan(batch * 1024, batch == 1 ? 1 : 1024);
        const std::string difference = difference_of(*on_device, on_host, seeds, {5, 2, batch});
        EXPECT_EQ(difference, "") << text_of(dataset.graph, rule);
        if (!difference.empty()) break;
      }
    }
}

TEST(TypedDeviceSampler, OfOneTypeAndOneRelationItDrawsWhatThePlainGraphDraws) {
  const test::OwnedGraph plain = test::power_law_graph(5000, 20, 3);
  SlotTable slots;
  slots.append(5000, std::vector<std::uint16_t>{0});
  CsrGraph typed = plain.view();
  typed.slots = &slots;
  const DeviceGraph graph(typed);
  std::vector<NodeId> seeds;
  for (NodeId v = 0; v < 300; ++v) seeds.push_back(4999 - 7 * v);
  for (const Draw draw : {Draw::kUniform, Draw::kWithReplacement, Draw::kLabor}) {
    const SamplingRule rule{{15, 70, 3}, draw};
    const auto sampler = graph.make_sampler(rule);
    const Mfg expected = reference_sample(plain.view(), rule, seeds, {4, 5, 6});
    const std::vector<test::NamedArray> found = test::arrays_of(*sampler, seeds, {4, 5, 6});
    const auto expect_array = [&](const std::string& name, const std::vector<LocalId>& wanted) {
      for (const test::NamedArray& array : found) {
        if (array.name != name) continue;
        const std::vector<std::int64_t> values(array.values.begin(), array.values.end() - 1);  // without the guard
        EXPECT_EQ(values, std::vector<std::int64_t>(wanted.begin(), wanted.end())) << name_of(draw) << ' ' << name;
      }
    };
    for (std::size_t h = 0; h < expected.hops.size(); ++h) {
      expect_array("hops[" + std::to_string(h) + "].indptr", expected.hops[h].indptr);
      expect_array("hops[" + std::to_string(h) + "].indices", expected.hops[h].indices);
    }
  }
}

TEST(TypedDeviceSampler, RefusesWhatIsNoRuleAndStaysUsable) {
  std::mt19937 random(3);
  test::TypedRows rows = test::random_rows(random);
  while (rows.slots.relations.size() < 2 || rows.indices.empty()) rows = test::random_rows(random);
  const DeviceGraph graph(rows.view());
  EXPECT_THROW(graph.make_sampler({.fanouts = {2}, .relation_fanouts = {{2}}}), Error);
  test::TypedRows unweighted = rows;
  unweighted.weights.clear();
  EXPECT_THROW(DeviceGraph(unweighted.view()).make_sampler({.fanouts = {2}, .draw = Draw::kWeighted}), Error);
  const SamplingRule rule{.fanouts = {3, 3}};
  const auto sampler = graph.make_sampler(rule);
  const auto outside = static_cast<NodeId>(rows.slots.num_nodes());
  EXPECT_THROW(sampler->sample(std::vector<NodeId>{outside}, {}), Error);
  HostBatchSampler on_host(rows.view(), rule);
  EXPECT_EQ(difference_of(*sampler, on_host, std::vector<NodeId>{0}, {1, 2, 3}), "");
}

}  // namespace
}  // namespace salient
