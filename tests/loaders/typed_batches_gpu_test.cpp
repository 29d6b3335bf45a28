// tests/loaders/typed_batches_gpu_test.cpp - typed batches on the GPU hold the bytes of the host's, wherever graph and
// features are. A case that differs says what, and the next one follows.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/cuda/cuda.h"
#include "core/error.h"
#include "loaders/batch_loader.h"
#include "loaders/batch_maker.h"
#include "loaders/host_slab.h"
#include "loaders/resident_data.h"
#include "loaders/shards.h"
#include "prepare/writing/write_typed_store.h"
#include "store/open_store.h"
#include "store/synthetic_typed.h"
#include "tests/support/batches.h"
#include "tests/support/sampled_arrays.h"
#include "tests/support/scratch.h"
#include "tests/support/spin.h"
#include "tests/support/typed_graphs.h"

namespace salient {
namespace {

using test::NamedArray;
using test::Scratch;

/// All parts of a typed batch in host memory; features as bytes.
std::vector<NamedArray> arrays_of(const Batch& batch) {
  std::vector<NamedArray> found;
  const BatchLayout& layout = batch.layout;
  const auto add = [&]<class T>(std::string name, T, std::size_t offset, std::int64_t count) {
    const std::vector<T> values = test::part<T>(batch, offset, static_cast<std::size_t>(count));
    found.push_back({std::move(name), std::vector<std::int64_t>(values.begin(), values.end())});
  };
  add("y", std::int32_t{}, layout.y, layout.num_seeds);
  add("nodes", NodeId{}, layout.nodes, layout.num_nodes);
  for (std::size_t h = 0; h < layout.hops.size(); ++h) {
    const std::string of_hop = "hops[" + std::to_string(h) + "].";
    const HopLayout& hop = layout.hops[h];
    const TypedHopLayout& typed = layout.typed_hops[h];
    add(of_hop + "indptr", LocalId{}, hop.indptr, std::int64_t{typed.shape.num_rows} + 1);
    add(of_hop + "indices", LocalId{}, hop.indices, hop.num_edges);
    add(of_hop + "row_begin", LocalId{}, typed.row_begin, std::int64_t{hop.num_dst} + 1);
    add(of_hop + "row_dst", LocalId{}, typed.row_dst, typed.shape.num_rows);
    add(of_hop + "relation_rows", LocalId{}, typed.relation_rows, typed.shape.relation_begin.back());
  }
  for (std::size_t t = 0; t < layout.types.size(); ++t) {
    const std::string of_type = "types[" + std::to_string(t) + "].";
    const TypeLayout& type = layout.types[t];
    const auto item = static_cast<std::int64_t>(size_of(type.feature_type));
    add(of_type + "nodes", LocalId{}, type.nodes, type.num_nodes);
    if (type.feature_dim == 0) continue;
    if (type.feature_layout == FeatureLayout::kCsr) {
      add(of_type + "x_begin", LocalId{}, type.x_begin, std::int64_t{type.num_nodes} + 1);
      add(of_type + "x_columns", LocalId{}, type.x_columns, type.num_values);
      add(of_type + "x", std::uint8_t{}, type.x, type.num_values * item);
    } else {
      add(of_type + "x", std::uint8_t{}, type.x, std::int64_t{type.num_nodes} * type.feature_dim * item);
    }
  }
  return found;
}

class HostBatches {
 public:
  HostBatches(const Dataset& dataset, const SamplingRule& rule) : maker_(dataset, rule) {}
  std::vector<NamedArray> make(const BatchRequest& request) {
    Batch batch;
    maker_.sample(request, batch);
    batch.data = slab_.reserve(batch.layout.prepared_bytes);
    maker_.write(batch, batch.data);
    return arrays_of(batch);
  }

 private:
  BatchMaker maker_;
  HostSlab slab_;
};

/// The rows of each dense type in a part of one GPU's, as if others had more.
std::vector<std::unique_ptr<Shards>> shards_of(const Dataset& dataset) {
  std::vector<std::unique_ptr<Shards>> shards;
  for (const FeatureTable& table : dataset.type_features) {
    if (table.rows.row_bytes == 0) {
      shards.push_back(nullptr);
      continue;
    }
    Shards& of_type =
        *shards.emplace_back(std::make_unique<Shards>(make_device_shard_memory(), table.rows, /*shard=*/0, 1));
    std::vector<Descriptor> parts;
    parts.emplace_back(::fcntl(of_type.descriptor().get(), F_DUPFD_CLOEXEC, 0));
    of_type.join(parts);
    cuda_check(cudaMemcpy(const_cast<std::byte*>(of_type.table().data), table.rows.data,
                          table.rows.num_rows * table.rows.row_bytes, cudaMemcpyHostToDevice));
  }
  return shards;
}

constexpr DataResidency kPlacements[] = {{},
                                         {.features = Residency::kCached, .cached_bytes = 300},
                                         {.features = Residency::kCached, .graph = GraphResidency::kDevice},
                                         {.features = Residency::kSharded},
                                         {.features = Residency::kDevice},
                                         {.graph = GraphResidency::kDevice},
                                         {.features = Residency::kDevice, .graph = GraphResidency::kDevice}};

/// The first difference of an epoch on the device; "" without any.
std::string difference_of_epoch(const Dataset& dataset, const SamplingRule& rule, const DataResidency& residency,
                                const std::vector<BatchRequest>& requests, int num_workers) {
  const CudaStream stream;
  HostBatches host(dataset, rule);
  const bool is_sharded = residency.features == Residency::kSharded;
  const ResidentData data(dataset, residency, {},
                          is_sharded ? shards_of(dataset) : std::vector<std::unique_ptr<Shards>>());
  BatchLoader loader(dataset, {.rule = rule, .num_workers = num_workers, .to_device = true, .data = data.view()});
  loader.start(requests);
  for (const BatchRequest& request : requests) {
    const Batch* const batch = loader.next(stream.get());
    if (batch == nullptr) return "a batch is missing";
    std::vector<std::byte> bytes(batch->layout.bytes);
    spin(100'000, stream.get());
    cuda_check(cudaMemcpyAsync(bytes.data(), batch->data, bytes.size(), cudaMemcpyDeviceToHost, stream.get()));
    stream.wait();
    Batch copy = *batch;
    copy.data = bytes.data();
    const std::string difference = test::first_difference(arrays_of(copy), host.make(request));
    if (!difference.empty()) return "batch " + std::to_string(request.key.batch) + ": " + difference;
  }
  return loader.next(stream.get()) == nullptr ? "" : "there is a batch too many";
}

void expect_host_batches(const Dataset& dataset, const SamplingRule& rule, const std::vector<BatchRequest>& requests,
                         const std::string& name) {
  const auto has_dense = std::ranges::any_of(dataset.type_features, [](const auto& t) { return t.rows.row_bytes > 0; });
  static int num_epochs = 0;  // every placement meets both numbers of workers, of other graphs
  for (const DataResidency& residency : kPlacements) {
    if (residency.features != Residency::kHost && !has_dense) continue;
    const int num_workers = num_epochs++ % 2 == 0 ? 0 : 3;
    std::string difference;
    try {
      difference = difference_of_epoch(dataset, rule, residency, requests, num_workers);
    } catch (const Error& error) {
      difference = std::string("error: ") + error.what();
    }
    EXPECT_EQ(difference, "") << name << ", features on the " << name_of(residency.features) << ", graph on the "
                              << name_of(residency.graph) << ", " << num_workers << " workers";
  }
}

TEST(TypedBatchesOnDevice, AreTheHostsOverRandomSchemas) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Scratch scratch;
    constexpr std::optional<FeatureLayout> kLayouts[] = {std::nullopt, FeatureLayout::kDense, FeatureLayout::kCsr};
    write_typed_store(
        test::random_typed_graph(seed),
        {.out = scratch / "store", .num_threads = 1, .feature_layout = kLayouts[seed % 3], .in_fp8 = seed % 4 == 1});
    const Dataset dataset = open_store(scratch / "store", 1, FeatureFile::kNeeded, GraphKind::kAny).dataset;
    std::mt19937 random(seed);
    constexpr int kChoices[] = {-1, 0, 1, 2, 5};
    SamplingRule rule{.fanouts = {1, 1}, .draw = seed % 3 == 0 ? Draw::kLabor : Draw::kUniform};
    for (std::size_t r = 0; r < dataset.types.relations.size(); ++r)
      rule.relation_fanouts.push_back({kChoices[random() % 5], kChoices[random() % 5]});
    expect_host_batches(dataset, rule, test::requests_of(dataset.train, 7, seed), "case " + std::to_string(seed));
  }
}

TEST(TypedBatchesOnDevice, MayHaveSparseAndDenseTypesAndNone) {
  const Scratch scratch;
  write_typed_store(test::small_typed_graph(), {.out = scratch / "store", .num_threads = 1});
  const Dataset dataset = open_store(scratch / "store", 1, FeatureFile::kNeeded, GraphKind::kAny).dataset;
  ASSERT_TRUE(dataset.types.node_types[1].features.is_sparse());
  const std::vector<NodeId> seeds{2, 0, 1, 3};
  expect_host_batches(dataset, {.fanouts = {-1, -1, 2}}, test::requests_of(seeds, 3), "small");
}

TEST(TypedBatchesOnDevice, AreTheHostsOnTwins) {
  for (const std::string name : {"mag", "igbh"}) {
    SyntheticTypedOptions options = synthetic_typed_like(name, name == "mag" ? 0.02 : 2e-5);
    const Dataset dataset = make_synthetic_dataset(options);
    const std::vector<NodeId> seeds(dataset.train.begin(),
                                    dataset.train.begin() + std::min<std::ptrdiff_t>(1500, std::ssize(dataset.train)));
    for (const Draw draw : {Draw::kUniform, Draw::kLabor})
      expect_host_batches(dataset, {{15, 10, 5}, draw}, test::requests_of(seeds, 512), name + ", " + name_of(draw));
  }
}

}  // namespace
}  // namespace salient
