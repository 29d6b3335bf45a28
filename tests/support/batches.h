// tests/support/batches.h - what a batch must contain, made the slow way, and a comparison with a slab.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "loaders/batch.h"
#include "loaders/gather_rows.h"
#include "sampler/reference_sampler.h"
#include "store/dataset.h"

namespace salient::test {

/// The seeds in order, `batch_size` at a time; batch b has key (seed, epoch, b).
inline std::vector<BatchRequest> requests_of(std::span<const NodeId> seeds, std::size_t batch_size,
                                             std::uint32_t seed = 1, std::uint32_t epoch = 0) {
  std::vector<BatchRequest> requests;
  for (std::size_t at = 0; at < seeds.size(); at += batch_size)
    requests.push_back({{seed, epoch, static_cast<std::uint32_t>(requests.size())},
                        seeds.subspan(at, std::min(batch_size, seeds.size() - at))});
  return requests;
}

template <class T>
std::vector<T> part(const Batch& batch, std::size_t offset, std::size_t count) {
  const T* begin = batch.at<const T>(offset);
  return {begin, begin + count};
}

/// Asserts that `batch`, in host memory, is bit for bit what the references make of `request`, and `mfg` of its nodes.
inline void expect_batch_of(const Mfg& mfg, const Batch& batch, const Dataset& dataset, const BatchRequest& request) {
  const BatchLayout& layout = batch.layout;
  EXPECT_EQ(batch.key.batch, request.key.batch);
  EXPECT_EQ(static_cast<std::size_t>(layout.num_seeds), request.seeds.size());
  EXPECT_EQ(part<NodeId>(batch, layout.nodes, static_cast<std::size_t>(layout.num_nodes)), mfg.nodes);
  if (layout.degrees_of == Degrees::kOfEveryNode) {
    std::vector<NodeDegree> degrees(mfg.nodes.size());
    read_degrees(dataset.graph, mfg.nodes, degrees.data());
    EXPECT_EQ(part<NodeDegree>(batch, layout.degrees, degrees.size()), degrees);
  }
  EXPECT_EQ(layout.label_type, dataset.label_type());
  std::vector<std::int32_t> labels;
  for (const NodeId seed : request.seeds)
    if (dataset.task == Task::kMultiClass) labels.push_back(dataset.labels[seed]);
  EXPECT_EQ(part<std::int32_t>(batch, layout.y, labels.size()), labels);
  std::vector<std::int8_t> flags;
  const auto width = static_cast<std::size_t>(dataset.num_classes);
  for (const NodeId seed : request.seeds)
    for (std::size_t t = 0; dataset.task == Task::kMultiLabel && t < width; ++t)
      flags.push_back(dataset.multi_labels[seed * width + t]);
  EXPECT_EQ(part<std::int8_t>(batch, layout.y, flags.size()), flags);
  ASSERT_EQ(layout.hops.size(), mfg.hops.size());
  for (std::size_t h = 0; h < mfg.hops.size(); ++h) {
    const HopLayout& hop = layout.hops[h];
    EXPECT_EQ(hop.num_dst, mfg.hops[h].num_dst);
    EXPECT_EQ(hop.num_src, mfg.hops[h].num_src);
    EXPECT_EQ(part<LocalId>(batch, hop.indptr, static_cast<std::size_t>(hop.num_dst) + 1), mfg.hops[h].indptr);
    EXPECT_EQ(part<LocalId>(batch, hop.indices, static_cast<std::size_t>(hop.num_edges)), mfg.hops[h].indices);
  }
  if (!batch.is_on_device && layout.residency != Residency::kHost) return;  // x is not there yet
  if (dataset.features.row_bytes == 0) return;                              // sparse rows: the caller compares them
  EXPECT_EQ(layout.feature_type, gathered_type(dataset.feature_type));
  std::vector<std::byte> rows(mfg.nodes.size() * dataset.gathered_row_bytes());
  gather_features_reference(dataset.features, mfg.nodes.data(), mfg.nodes.size(), rows.data());
  EXPECT_EQ(part<std::byte>(batch, layout.x, rows.size()), rows);
}

/// The same of what reference_sample() samples.
inline void expect_reference_batch(const Batch& batch, const Dataset& dataset, const std::vector<int>& fanouts,
                                   const BatchRequest& request, Draw draw = Draw::kUniform) {
  const Mfg mfg = reference_sample(dataset.graph, {fanouts, draw}, request.seeds, request.key);
  expect_batch_of(mfg, batch, dataset, request);
}

}  // namespace salient::test
