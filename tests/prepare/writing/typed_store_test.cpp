// tests/prepare/writing/typed_store_test.cpp - random schemas are written and opened, and every entry is in its slot.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "prepare/writing/repeated_reverses.h"
#include "prepare/writing/typed_rows.h"
#include "prepare/writing/write_typed_store.h"
#include "store/dataset_summary.h"
#include "store/node_ids.h"
#include "store/open_store.h"
#include "tests/support/scratch.h"
#include "tests/support/threads.h"
#include "tests/support/typed_graphs.h"

namespace salient {
namespace {

using test::Scratch;
constexpr std::uint32_t kNumStores = 60, kNumSchemas = 500;

Dataset open_any(const std::filesystem::path& path) {
  return open_store(path, 1, FeatureFile::kNeeded, GraphKind::kAny).dataset;
}

/// (relation, source, destination) of every edge, in ids of the one space, reverses as edges of their own.
using Entries = std::set<std::tuple<std::size_t, NodeId, NodeId>>;

Entries entries_given(const TypedGraph& graph) {
  std::vector<NodeId> begin{0};
  for (const NodeType& type : graph.schema.node_types) begin.push_back(begin.back() + static_cast<NodeId>(type.count));
  Entries entries;
  for (std::size_t r = 0; r < graph.schema.relations.size(); ++r) {
    const Relation& relation = graph.schema.relations[r];
    const bool is_reverse = relation.reverse_of.has_value();
    const NodePairs& pairs = graph.edges[is_reverse ? static_cast<std::size_t>(*relation.reverse_of) : r];
    for (std::size_t m = 0; m < pairs.sources.size(); ++m) {
      const NodeId from = is_reverse ? pairs.destinations[m] : pairs.sources[m];
      const NodeId to = is_reverse ? pairs.sources[m] : pairs.destinations[m];
      entries.emplace(r, begin[static_cast<std::size_t>(relation.src)] + from,
                      begin[static_cast<std::size_t>(relation.dst)] + to);
    }
  }
  return entries;
}

Entries entries_stored(const Dataset& dataset) {
  const SlotTable& slots = *dataset.slots;
  Entries entries;
  for (std::size_t r = 0; r < dataset.types.relations.size(); ++r) {
    const Relation& relation = dataset.types.relations[r];
    const auto dst = static_cast<std::size_t>(relation.dst);
    std::uint64_t count = 0;
    for (std::uint64_t v = slots.node_begin[dst]; v < slots.node_begin[dst + 1]; ++v)
      for (const NodeId u : dataset.graph.row(slots.row_of(dst, static_cast<NodeId>(v), relation.slot))) {
        entries.emplace(r, u, static_cast<NodeId>(v));
        ++count;
      }
    EXPECT_EQ(count, relation.num_entries);
  }
  EXPECT_EQ(entries.size(), dataset.graph.indices.size()) << "and no entry is anywhere else";
  return entries;
}

TEST(TypedStore, EveryEntryOfRandomSchemasIsInItsSlot) {
  for (std::uint32_t seed = 0; seed < kNumStores; ++seed) {
    SCOPED_TRACE(seed);
    const Scratch scratch;
    TypedGraph graph = test::random_typed_graph(seed);
    drop_repeated_reverses(graph);
    const WriteReport report = write_typed_store(graph, {.out = scratch / "store", .num_threads = 1});
    const Dataset dataset = open_any(scratch / "store");
    ASSERT_EQ(entries_stored(dataset), entries_given(graph));
    EXPECT_EQ(report.entries, dataset.graph.indices.size());
    EXPECT_NO_THROW(verify_dataset(scratch / "store", 1));
    ASSERT_EQ(dataset.types.node_types.size(), graph.schema.node_types.size());
    const NodeId first = dataset.first_target();
    ASSERT_EQ(dataset.train.size(), graph.target.train.size());
    for (std::size_t i = 0; i < dataset.train.size(); ++i) EXPECT_EQ(dataset.train[i], first + graph.target.train[i]);
    EXPECT_TRUE(std::ranges::equal(dataset.labels, graph.target.labels));
    for (std::size_t t = 0; t < graph.features.size(); ++t) {
      const RowTable& rows = dataset.type_features[t].rows;
      ASSERT_EQ(rows.num_rows * rows.row_bytes, graph.features[t].rows.size());
      EXPECT_TRUE(std::equal(rows.data, rows.data + graph.features[t].rows.size(), graph.features[t].rows.begin()));
    }
  }
}

TEST(TypedStore, SlotsAreThoseOfTheReferenceForAnyNumberOfThreads) {
  for (std::uint32_t seed = 0; seed < kNumSchemas; ++seed) {
    SCOPED_TRACE(seed);
    TypedGraph graph = test::random_typed_graph(seed);
    GraphSchema expected_schema = graph.schema;
    const SlotTable slots = slot_table_of(graph.schema);
    const CsrArrays expected = build_slots_reference(expected_schema, slots, graph.edges);
    for (const int threads : {1, 3}) {
      GraphSchema schema = graph.schema;
      CsrArrays found;
      test::with_threads(threads, [&] { found = build_slots(schema, slots, graph.edges); });
      ASSERT_EQ(found, expected);
      ASSERT_EQ(schema, expected_schema);
    }
  }
}

TEST(TypedStore, ARelationThatListsEveryEdgeBothWaysIsItsOwnReverse) {
  const Scratch scratch;
  TypedGraph graph = test::small_typed_graph();
  graph.schema.relations.insert(graph.schema.relations.begin() + 3,
                                {.src = 0, .dst = 0, .name = "rev_cites", .reverse_of = 0});
  graph.edges.emplace_back();
  number_slots(graph.schema);
  write_typed_store(graph, {.out = scratch / "one", .num_threads = 1});
  EXPECT_EQ(open_any(scratch / "one").types.relations.size(), 6u);
  graph.edges[0] = {{0, 1, 3, 0, 2, 0, 3}, {1, 0, 0, 3, 2, 1, 0}};  // two are repeated
  write_typed_store(graph, {.out = scratch / "both", .num_threads = 1});
  EXPECT_NO_THROW(verify_dataset(scratch / "both", 1));
  const GraphSchema schema = open_any(scratch / "both").types;
  ASSERT_EQ(schema.relations.size(), 5u);
  EXPECT_EQ(schema.relations[0].num_entries, 5u);
  EXPECT_EQ(schema.relations[3].name, "rev_written_by");
  EXPECT_EQ(schema.relations[3].reverse_of, 1);
  EXPECT_EQ(schema.relations[3].slot, 1u);
}

TEST(TypedStore, FeaturesMayBeFp8AndSparse) {
  const Scratch scratch;
  TypedGraph graph = test::small_typed_graph();
  graph.features[1] = test::rows_of(3, 5, 2);
  write_typed_store(graph, {.out = scratch / "fp8", .num_threads = 1, .in_fp8 = true});
  EXPECT_NO_THROW(verify_dataset(scratch / "fp8", 1));
  const Dataset fp8 = open_any(scratch / "fp8");
  EXPECT_EQ(fp8.types.node_types[0].features.type, FeatureType::kFp8);
  EXPECT_EQ(fp8.type_features[1].rows.row_bytes, 5u);
  EXPECT_GT(fp8.type_features[1].rows.fp8_scale, 0);
  write_typed_store(graph, {.out = scratch / "csr", .num_threads = 1, .feature_layout = FeatureLayout::kCsr});
  EXPECT_NO_THROW(verify_dataset(scratch / "csr", 1));
  EXPECT_EQ(open_any(scratch / "csr").type_features[1].sparse.longest.num_values(1), 5u);
}

TEST(TypedStore, IdsOfAllTypesAreOneList) {
  const Scratch scratch;
  TypedGraph graph = test::small_typed_graph();
  for (const char* name : {"p0", "p1", "p2", "p3", "0", "1", "2", "s\"x", ""}) graph.node_names.append(name);
  write_typed_store(graph, {.out = scratch / "store", .num_threads = 1});
  EXPECT_NO_THROW(verify_dataset(scratch / "store", 1));
  EXPECT_EQ(NodeIds::open(scratch / "store")[5], "1");
  EXPECT_EQ(NodeIds::open(scratch / "store")[7], "s\"x");
}

TEST(TypedStore, ASchemaThatBreaksARuleIsNotWritten) {
  const Scratch scratch;
  TypedGraph graph = test::small_typed_graph();
  graph.schema.node_types[1].name = "paper";
  const test::Complaint complaint =
      test::complaint_of([&] { write_typed_store(graph, {.out = scratch / "store", .num_threads = 1}); });
  EXPECT_EQ(complaint.exit_code, 65);
  EXPECT_TRUE(complaint.mentions("two node types are called 'paper'")) << complaint.text;
  EXPECT_FALSE(std::filesystem::exists(scratch / "store"));
}

}  // namespace
}  // namespace salient
