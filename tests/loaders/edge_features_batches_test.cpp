// tests/loaders/edge_features_batches_test.cpp - batches carry the places of entries and the features of their edges.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/error.h"
#include "loaders/batch_maker.h"
#include "loaders/host_slab.h"
#include "tests/support/batches.h"
#include "tests/support/datasets.h"

namespace salient {
namespace {

const std::vector<int> kFanouts{5, 3};

Batch made_by(BatchMaker& maker, const BatchRequest& request, HostSlab& slab) {
  Batch batch;
  maker.sample(request, batch);
  batch.data = slab.reserve(batch.layout.bytes);
  maker.write(batch, batch.data);
  return batch;
}

/// Every entry has the row of its place, and its place is one of its neighbour in the row of its destination.
void expect_rows_of_places(const Batch& batch, const Dataset& dataset) {
  const CsrGraph& graph = dataset.graph;
  const auto* const nodes = batch.at<NodeId>(batch.layout.nodes);
  const std::size_t row_bytes = dataset.edge_features.row_bytes;
  for (const HopLayout& hop : batch.layout.hops) {
    const auto *const indptr = batch.at<LocalId>(hop.indptr), *const indices = batch.at<LocalId>(hop.indices);
    const auto* const places = batch.at<std::int64_t>(hop.places);
    const auto* const edge_x = batch.at<std::byte>(hop.edge_x);
    for (LocalId i = 0; i < hop.num_dst; ++i)
      for (LocalId e = indptr[i]; e < indptr[i + 1]; ++e) {
        const auto place = static_cast<std::size_t>(places[e]);
        ASSERT_TRUE(places[e] >= graph.indptr[nodes[i]] && places[e] < graph.indptr[nodes[i] + std::size_t{1}]);
        ASSERT_EQ(graph.indices[place], nodes[indices[e]]);
        ASSERT_EQ(std::memcmp(edge_x + static_cast<std::size_t>(e) * row_bytes,
                              dataset.edge_features.data + place * row_bytes, row_bytes),
                  0);
      }
  }
}

TEST(EdgeFeaturesBatches, HaveTheRowOfEveryEntry) {
  for (const int edge_dim : {1, 3, 8, 9, 40})  // rows below, of and above the words that are streamed
    for (const Draw draw : {Draw::kUniform, Draw::kWithReplacement, Draw::kLabor}) {
      const Dataset dataset = test::with_edge_features(test::generated_dataset(300, 8, 5), edge_dim);
      BatchMaker maker(dataset, {kFanouts, draw}), features_alone(dataset, {kFanouts, draw});
      maker.carry({.places = true, .features = true});
      features_alone.carry({.features = true});
      HostSlab slab, other_slab;
      for (const BatchRequest& request : test::requests_of(dataset.train, 30)) {
        const Batch batch = made_by(maker, request, slab);
        expect_rows_of_places(batch, dataset);
        test::expect_reference_batch(batch, dataset, kFanouts, request, draw);
        const Batch other = made_by(features_alone, request, other_slab);
        for (std::size_t h = 0; h < kFanouts.size(); ++h) {
          const HopLayout &a = batch.layout.hops[h], &b = other.layout.hops[h];
          const auto num_bytes = static_cast<std::size_t>(a.num_edges) * dataset.edge_features.row_bytes;
          ASSERT_EQ(std::memcmp(batch.at<std::byte>(a.edge_x), other.at<std::byte>(b.edge_x), num_bytes), 0);
        }
        if (HasFailure()) return;
      }
    }
}

TEST(EdgeFeaturesBatches, HaveThemWhereTheDeviceGathersRowsOfNodes) {  // what the copy moves
  const Dataset dataset = test::with_edge_features(test::generated_dataset(300, 8, 5), 3);
  BatchMaker maker(dataset, {kFanouts}, ResidentView{.features = Residency::kDevice});
  maker.carry({.places = true, .features = true});
  HostSlab slab;
  const Batch batch = made_by(maker, test::requests_of(dataset.train, 30).front(), slab);
  for (const HopLayout& hop : batch.layout.hops)
    EXPECT_LE(hop.edge_x + static_cast<std::size_t>(hop.num_edges) * dataset.edge_features.row_bytes,
              batch.layout.prepared_bytes);
  expect_rows_of_places(batch, dataset);
}

TEST(EdgeFeaturesBatches, OfADataSetWithFeaturesAreThePlainOnesWhereNoneAreAskedFor) {
  const Dataset plain = test::generated_dataset(300, 8, 5), dataset = test::with_edge_features(plain, 3);
  BatchMaker of_plain(plain, {kFanouts}), of_featured(dataset, {kFanouts});
  HostSlab slab, other_slab;
  for (const BatchRequest& request : test::requests_of(dataset.train, 30)) {
    const Batch expected = made_by(of_plain, request, slab), batch = made_by(of_featured, request, other_slab);
    ASSERT_EQ(batch.layout.bytes, expected.layout.bytes);
    test::expect_reference_batch(batch, dataset, kFanouts, request);
  }
}

TEST(EdgeFeaturesBatches, OfADataSetWithoutAreRefused) {
  const Dataset dataset = test::generated_dataset(300, 8, 5);
  BatchMaker maker(dataset, {kFanouts});
  EXPECT_THROW(maker.carry({.features = true}), Error);
}

}  // namespace
}  // namespace salient
