// tests/loaders/typed_batches_test.cpp - batches of random typed graphs, part by part, beside what plain loops make.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "loaders/batch_loader.h"
#include "loaders/batch_maker.h"
#include "loaders/host_slab.h"
#include "prepare/writing/write_typed_store.h"
#include "store/open_store.h"
#include "tests/support/batches.h"
#include "tests/support/datasets.h"
#include "tests/support/scratch.h"
#include "tests/support/typed_graphs.h"

namespace salient {
namespace {

using test::part;
using test::Scratch;
constexpr std::uint32_t kNumSchemas = 60;

Dataset stored(const Scratch& scratch, const TypedGraph& graph, std::optional<FeatureLayout> layout, bool in_fp8) {
  write_typed_store(graph, {.out = scratch / "store", .num_threads = 1, .feature_layout = layout, .in_fp8 = in_fp8});
  return open_store(scratch / "store", 1, FeatureFile::kNeeded, GraphKind::kAny).dataset;
}

/// Two hops, each relation with its own fanouts, 0 among them.
SamplingRule random_rule(const Dataset& dataset, std::uint32_t seed) {
  std::mt19937 random(seed);
  constexpr int kChoices[] = {-1, 0, 1, 2, 5};
  SamplingRule rule{.fanouts = {1, 1}, .draw = seed % 3 == 0 ? Draw::kLabor : Draw::kUniform};
  for (std::size_t r = 0; r < dataset.types.relations.size(); ++r)
    rule.relation_fanouts.push_back({kChoices[random() % 5], kChoices[random() % 5]});
  return rule;
}

/// A row of features as a model reads it, as bytes of a dense row.
std::vector<std::byte> dense_row(const Dataset& dataset, std::size_t type, std::uint64_t row) {
  const FeatureShape& shape = dataset.types.node_types[type].features;
  const FeatureTable& table = dataset.type_features[type];
  const std::size_t item = size_of(gathered_type(shape.type));
  std::vector<std::byte> found(static_cast<std::size_t>(shape.dim) * item);
  if (shape.is_sparse()) {
    for (auto k = static_cast<std::size_t>(table.sparse.begin[row]);
         k < static_cast<std::size_t>(table.sparse.begin[row + 1]); ++k)
      std::memcpy(found.data() + table.sparse.columns[k] * item, table.sparse.values + k * item, item);
    return found;
  }
  const auto id = static_cast<NodeId>(row);
  gather_features_reference(table.rows, &id, 1, found.data());
  return found;
}

/// Row i of x of a type.
std::vector<std::byte> row_of_batch(const Batch& batch, const TypeLayout& type, std::size_t i) {
  const std::size_t item = size_of(type.feature_type), row_bytes = static_cast<std::size_t>(type.feature_dim) * item;
  if (type.feature_layout == FeatureLayout::kDense) return part<std::byte>(batch, type.x + i * row_bytes, row_bytes);
  std::vector<std::byte> found(row_bytes);
  const auto begin = part<LocalId>(batch, type.x_begin, i + 2);
  for (auto k = static_cast<std::size_t>(begin[i]); k < static_cast<std::size_t>(begin[i + 1]); ++k)
    std::memcpy(found.data() + static_cast<std::size_t>(batch.at<LocalId>(type.x_columns)[k]) * item,
                batch.data + type.x + k * item, item);
  return found;
}

void expect_types(const Batch& batch, const Dataset& dataset, const Mfg& mfg) {
  const SlotTable& slots = *dataset.slots;
  ASSERT_EQ(batch.layout.types.size(), slots.num_types());
  for (std::size_t t = 0; t < slots.num_types(); ++t) {
    const TypeLayout& type = batch.layout.types[t];
    std::vector<LocalId> numbers;
    for (std::size_t i = 0; i < mfg.nodes.size(); ++i)
      if (slots.type_of(mfg.nodes[i]) == t) numbers.push_back(static_cast<LocalId>(i));
    ASSERT_EQ(part<LocalId>(batch, type.nodes, static_cast<std::size_t>(type.num_nodes)), numbers);
    ASSERT_EQ(type.feature_dim, dataset.types.node_types[t].features.dim);
    for (std::size_t i = 0; type.feature_dim > 0 && i < numbers.size(); ++i)
      ASSERT_EQ(row_of_batch(batch, type, i),
                dense_row(dataset, t, mfg.nodes[static_cast<std::size_t>(numbers[i])] - slots.node_begin[t]));
  }
}

/// x of a type from the rows of its cache and those that the worker wrote: what the device does.
std::vector<std::byte> assembled(const Batch& batch, const TypeLayout& type, const RowTable& table,
                                 std::span<const NodeId> cached) {
  const auto count = static_cast<std::size_t>(type.num_nodes);
  RowTable missed = table;
  missed.data = batch.data + type.x_missed;
  std::vector<std::byte> x(count * static_cast<std::size_t>(type.feature_dim) * size_of(type.feature_type));
  const std::vector<std::uint32_t> rows = part<std::uint32_t>(batch, type.x_rows, count);
  NodeId num_missed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_cached = rows[i] < cached.size();
    EXPECT_TRUE(is_cached || rows[i] == cached.size() + num_missed);
    const NodeId row = is_cached ? cached[rows[i]] : num_missed++;
    gather_features_reference(is_cached ? table : missed, &row, 1, x.data() + i * (x.size() / count));
  }
  EXPECT_LE(type.x_missed + num_missed * table.row_bytes, batch.layout.prepared_bytes);
  return x;
}

void expect_hop(const Batch& batch, const Dataset& dataset, const MfgHop& hop, std::size_t h,
                std::span<const NodeId> nodes) {
  const HopLayout& layout = batch.layout.hops[h];
  const TypedHopLayout& typed = batch.layout.typed_hops[h];
  const SlotTable& slots = *dataset.slots;
  ASSERT_EQ(std::pair(layout.num_dst, layout.num_src), std::pair(hop.num_dst, hop.num_src));
  ASSERT_EQ(static_cast<std::size_t>(typed.shape.num_rows), hop.row_relation.size());
  ASSERT_EQ(part<LocalId>(batch, layout.indptr, hop.row_relation.size() + 1), hop.indptr);
  ASSERT_EQ(part<LocalId>(batch, layout.indices, static_cast<std::size_t>(layout.num_edges)), hop.indices);
  ASSERT_EQ(part<LocalId>(batch, typed.row_begin, static_cast<std::size_t>(hop.num_dst) + 1), hop.row_begin);
  std::vector<LocalId> row_dst, relation_rows, relation_begin{0};
  for (LocalId dst = 0; dst < hop.num_dst; ++dst)
    for (std::uint32_t k = 0; k < slots.num_slots[slots.type_of(nodes[static_cast<std::size_t>(dst)])]; ++k)
      row_dst.push_back(dst);
  ASSERT_EQ(part<LocalId>(batch, typed.row_dst, row_dst.size()), row_dst);
  for (std::size_t r = 0; r < dataset.types.relations.size(); ++r) {
    for (std::size_t row = 0; row < row_dst.size(); ++row)
      if (hop.row_relation[row] == r && hop.indptr[row] < hop.indptr[row + 1])
        relation_rows.push_back(static_cast<LocalId>(row));
    relation_begin.push_back(static_cast<LocalId>(relation_rows.size()));
  }
  ASSERT_EQ(typed.shape.relation_begin, relation_begin);
  ASSERT_EQ(part<LocalId>(batch, typed.relation_rows, relation_rows.size()), relation_rows);
  for (std::size_t t = 0; t < slots.num_types(); ++t) {
    const auto count = [&](LocalId n) {
      return std::ranges::count_if(nodes.first(static_cast<std::size_t>(n)),
                                   [&](NodeId node) { return slots.type_of(node) == t; });
    };
    ASSERT_EQ(typed.shape.num_src_of_type[t], count(hop.num_src));
    ASSERT_EQ(typed.shape.num_dst_of_type[t], count(hop.num_dst));
  }
}

void expect_typed_batch(const Batch& batch, const Dataset& dataset, const SamplingRule& rule,
                        const BatchRequest& request) {
  const Mfg mfg = reference_sample(dataset.graph, rule, request.seeds, request.key);
  ASSERT_EQ(part<NodeId>(batch, batch.layout.nodes, mfg.nodes.size()), mfg.nodes);
  std::vector<std::int32_t> labels;
  for (const NodeId seed : request.seeds) labels.push_back(dataset.labels[seed - dataset.first_target()]);
  ASSERT_EQ(part<std::int32_t>(batch, batch.layout.y, labels.size()), labels);
  ASSERT_EQ(batch.layout.hops.size(), mfg.hops.size());
  for (std::size_t h = 0; h < mfg.hops.size(); ++h) expect_hop(batch, dataset, mfg.hops[h], h, mfg.nodes);
  expect_types(batch, dataset, mfg);
}

TEST(TypedBatches, AreWhatPlainLoopsMakeOfRandomSchemas) {
  for (std::uint32_t seed = 0; seed < kNumSchemas; ++seed) {
    SCOPED_TRACE(seed);
    const Scratch scratch;
    const TypedGraph graph = test::random_typed_graph(seed);
    constexpr std::optional<FeatureLayout> kLayouts[] = {std::nullopt, FeatureLayout::kDense, FeatureLayout::kCsr};
    const Dataset dataset = stored(scratch, graph, kLayouts[seed % 3], seed % 4 == 1);
    const SamplingRule rule = random_rule(dataset, seed);
    BatchMaker maker(dataset, rule);
    HostSlab slab;
    for (const BatchRequest& request : test::requests_of(dataset.train, 7, seed)) {
      Batch batch;
      maker.sample(request, batch);
      batch.data = slab.reserve(batch.layout.prepared_bytes);
      maker.write(batch, batch.data);
      expect_typed_batch(batch, dataset, rule, request);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(TypedBatches, MayHaveSparseAndDenseTypesAndNone) {
  const Scratch scratch;
  const Dataset dataset = stored(scratch, test::small_typed_graph(), std::nullopt, false);
  ASSERT_TRUE(dataset.types.node_types[1].features.is_sparse());
  const SamplingRule rule{.fanouts = {-1, -1, 2}};
  BatchMaker maker(dataset, rule);
  HostSlab slab;
  const std::vector<NodeId> seeds{2, 0, 1, 3};
  for (const std::size_t count : {4u, 1u, 0u}) {
    Batch batch;
    const BatchRequest request{{3, 1, 4}, std::span(seeds).first(count)};
    maker.sample(request, batch);
    batch.data = slab.reserve(batch.layout.prepared_bytes);
    const std::size_t room = batch.layout.prepared_bytes;
    maker.write(batch, batch.data);
    EXPECT_LE(batch.layout.prepared_bytes, room);
    expect_typed_batch(batch, dataset, rule, request);
  }
}

TEST(TypedBatches, AreTheSameByAnyNumberOfWorkers) {
  for (const std::uint32_t seed : {2u, 5u, 11u}) {
    const Scratch scratch;
    const Dataset dataset = stored(scratch, test::random_typed_graph(seed), std::nullopt, false);
    const SamplingRule rule = random_rule(dataset, seed);
    for (const int workers : {0, 1, 3}) {
      BatchLoader loader(dataset, {.rule = rule, .num_workers = workers});
      const std::vector<BatchRequest> requests = test::requests_of(dataset.train, 2, seed);
      loader.start(requests);
      for (const BatchRequest& request : requests) {
        const Batch* const batch = loader.next();
        ASSERT_NE(batch, nullptr);
        expect_typed_batch(*batch, dataset, rule, request);
        if (HasFatalFailure()) return;
      }
      EXPECT_EQ(loader.next(), nullptr);
    }
  }
}

TEST(TypedBatches, HaveRowsOfOneTableWhereNoTypeHasItsOwn) {
  const Scratch scratch;
  Dataset dataset = stored(scratch, test::small_typed_graph(), std::nullopt, false);
  const std::size_t num_nodes = dataset.num_nodes(), width = 3;
  std::vector<float> table(num_nodes * width);
  std::iota(table.begin(), table.end(), 0.0F);
  std::vector<NodeId> row_of(num_nodes);
  for (std::size_t v = 0; v < num_nodes; ++v) row_of[v] = static_cast<NodeId>(num_nodes - 1 - v);
  for (NodeType& type : dataset.types.node_types) type.features.dim = 0;
  dataset.set_feature_shape({.dim = static_cast<int>(width), .type = FeatureType::kF32});
  dataset.features = {reinterpret_cast<const std::byte*>(table.data()), num_nodes, width * sizeof(float)};
  const SamplingRule rule{.fanouts = {-1}};
  const std::vector<NodeId> seeds{2, 0, 1};
  const Mfg mfg = reference_sample(dataset.graph, rule, seeds, {});
  for (const bool is_permuted : {false, true}) {
    BatchMaker maker(dataset, rule, {}, is_permuted ? std::span<const NodeId>(row_of) : std::span<const NodeId>());
    Batch batch;
    maker.sample({{}, seeds}, batch);
    HostSlab slab;
    batch.data = slab.reserve(batch.layout.prepared_bytes);
    maker.write(batch, batch.data);
    expect_hop(batch, dataset, mfg.hops[0], 0, mfg.nodes);
    std::vector<float> expected;
    for (const NodeId node : mfg.nodes)
      for (std::size_t c = 0; c < width; ++c)
        expected.push_back(static_cast<float>((is_permuted ? row_of[node] : node) * width + c));
    EXPECT_EQ(part<float>(batch, batch.layout.x, expected.size()), expected);
    EXPECT_EQ(batch.layout.feature_dim, static_cast<int>(width));
  }
}

TEST(TypedBatches, OfAPlainGraphHaveNoPartMore) {
  const Dataset dataset = test::generated_dataset(300, 8, 5);
  Batch batch;
  BatchMaker(dataset, {{5, 3}}).sample({{1, 0, 0}, dataset.train.first(20)}, batch);
  EXPECT_TRUE(batch.layout.types.empty());
  EXPECT_TRUE(batch.layout.typed_hops.empty());
}

TEST(TypedBatches, OfCachedRowsHaveTheOthersOfEachType) {
  for (std::uint32_t seed = 0; seed < kNumSchemas; ++seed) {
    const Scratch scratch;
    const Dataset dataset = stored(scratch, test::random_typed_graph(seed), std::nullopt, seed % 2 == 0);
    const SamplingRule rule = random_rule(dataset, seed);
    const BatchRequest request{.key = {seed, 1, 0}, .seeds = dataset.train};
    std::vector<std::vector<NodeId>> members;
    std::vector<NodeSet> sets;
    std::vector<RowTable> tables;  // the device's, which the maker does not read
    for (std::size_t t = 0; t < dataset.slots->num_types(); ++t) {
      std::vector<NodeId>& some = members.emplace_back();
      for (NodeId row = 0; row < dataset.slots->num_nodes_of(t); ++row)
        if (row * 7919 % 5 < seed % 6) some.push_back(row);
      sets.emplace_back(dataset.slots->num_nodes_of(t), some);
      tables.push_back(dataset.type_features[t].rows);
    }
    BatchMaker host(dataset, rule);
    BatchMaker maker(dataset, rule, {.features = Residency::kCached, .type_rows = tables, .type_cached = sets});
    Batch expected, batch;
    host.sample(request, expected);
    maker.sample(request, batch);
    std::vector<std::byte> expected_slab(expected.layout.bytes), slab(batch.layout.prepared_bytes);
    host.write(expected, expected.data = expected_slab.data());
    maker.write(batch, batch.data = slab.data());
    ASSERT_LE(batch.layout.prepared_bytes, slab.size());
    for (std::size_t t = 0; t < tables.size(); ++t) {
      const TypeLayout &type = batch.layout.types[t], &of_host = expected.layout.types[t];
      if (type.feature_dim == 0 || type.num_nodes == 0) continue;
      const auto item = static_cast<std::size_t>(type.feature_dim) * size_of(type.feature_type);
      ASSERT_EQ(type.feature_layout, FeatureLayout::kDense);
      ASSERT_EQ(assembled(batch, type, tables[t], members[t]),
                part<std::byte>(expected, of_host.x, static_cast<std::size_t>(type.num_nodes) * item))
          << "schema " << seed << ", type " << t;
    }
  }
}

}  // namespace
}  // namespace salient
