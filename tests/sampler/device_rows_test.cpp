// tests/sampler/device_rows_test.cpp - what threads of a GPU do with rows, played on the host, gives the reference's
// batches. What is not played: the order in which threads meet, and the search of LABOR's cut by a warp.
#include "sampler/device_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "sampler/batch_sampler.h"
#include "sampler/race.h"
#include "sampler/reference_sampler.h"
#include "tests/support/excluded_keys.h"
#include "tests/support/played_exclusions.h"
#include "tests/support/typed_rows.h"

namespace salient {
namespace {

/// The typed part of DeviceSampler, a loop for each kernel; see device_hop.cu and slot_lists.cu.
class PlayedSampler {
 public:
  /// @param excluded  as DeviceHop::excluded
  PlayedSampler(const CsrGraph& graph, SamplingRule rule, const DeviceExclusions& excluded = {})
      : graph_(graph),
        rule_(std::move(rule)),
        excluded_(excluded),
        csr_{{graph.indptr.data(), graph.indices.data(), graph.num_nodes()}, graph.entries.weights.data()},
        types_(device_types_of(*graph.slots)),
        slots_{types_.data(), graph.slots->relations.data(), static_cast<int>(types_.size())} {}

  Mfg sample(std::span<const NodeId> seeds, BatchKey key) {
    Mfg mfg{.nodes = {seeds.begin(), seeds.end()}, .hops = {}};
    row_begin_ = {0};
    rows_.clear();
    num_listed_ = 0;
    for (const NodeId seed : seeds)
      row_begin_.push_back(row_begin_.back() + static_cast<LocalId>(slots_.num_slots_of(seed)));
    for (std::uint32_t h = 0; h < rule_.fanouts.size(); ++h) mfg.hops.insert(mfg.hops.begin(), play_hop(h, key, mfg));
    return mfg;
  }
  const std::vector<HopSlot>& rows() const { return rows_; }
  const DeviceSlots& slots() const { return slots_; }

 private:
  void list_rows(const std::vector<NodeId>& nodes) {
    const auto first = static_cast<LocalId>(num_listed_);
    for (auto row = static_cast<LocalId>(rows_.size()); row < row_begin_.back(); ++row) {
      const LocalId dst = last_not_above(first, static_cast<LocalId>(nodes.size()), row,
                                         [&](LocalId d) { return row_begin_[static_cast<std::size_t>(d)]; });
      rows_.push_back(slots_.row_of(nodes[static_cast<std::size_t>(dst)],
                                    static_cast<std::uint32_t>(row - row_begin_[static_cast<std::size_t>(dst)])));
    }
    num_listed_ = nodes.size();
  }

  template <class Part>
  void pick_row(const HopRow& row, const Part& part, BatchKey key, std::uint32_t count, NodeId* out) const {
    const NodeId* const entries = csr_.row(row.row);
    if (rule_.draw == Draw::kWeighted) {
      const float* const weights = csr_.weights_of(row.row);
      pick_first(entries, part, count, out, [&](std::uint32_t place) {
        constexpr float kNever = std::numeric_limits<float>::max();
        if (!(weights[place] > 0)) return std::pair(true, kNever);
        return std::pair(false, race_length(race_word(key, row.word, row.dst, place)) / weights[place]);
      });
    } else if (row.fanout == kAllNeighbors) {
      for (std::uint32_t k = 0; k < count; ++k) out[k] = entries[part.place(k)];
    } else if (rule_.draw != Draw::kLabor) {
      pick_by_number(entries, part, count, rule_.draw == Draw::kWithReplacement, Draws(key, row.word, row.dst), out);
    } else {
      pick_first(entries, part, count, out, [&](std::uint32_t place) {
        return std::pair(shared_number(key, row.word, entries[place]), entries[place]);
      });
    }
  }

  /// Those whose ranks are the least, in the row's order.
  template <class Part, class RankOf>
  void pick_first(const NodeId* entries, const Part& part, std::uint32_t count, NodeId* out,
                  const RankOf& rank_of) const {
    std::vector<std::uint32_t> places;
    for (std::uint32_t e = 0; e < part.length; ++e) places.push_back(part.place(e));
    std::ranges::stable_sort(places, {}, rank_of);
    places.resize(count);
    std::ranges::sort(places);
    for (std::uint32_t k = 0; k < count; ++k) out[k] = entries[places[k]];
  }

  /// Entries that are kept, and the hop's rows.
  template <class Rows>
  std::vector<NodeId> keep(const Rows& rows, BatchKey key, MfgHop& hop) const {
    std::vector<NodeId> kept;
    for (LocalId i = 0; i < static_cast<LocalId>(rows_.size()); ++i) {
      const HopRow row = rows.at(i);
      const auto part = rows.part(csr_, i, row);
      const std::uint32_t count = rule_.draw == Draw::kWeighted
                                      ? drawable_of_row(csr_.weights_of(row.row), part, row.fanout)
                                      : kept_of_row(part.length, row.fanout, rule_.draw);
      kept.resize(kept.size() + count);
      pick_row(row, part, key, count, kept.data() + kept.size() - count);
      hop.indptr.push_back(static_cast<LocalId>(kept.size()));
      hop.row_relation.push_back(rows_[static_cast<std::size_t>(i)].relation);
    }
    return kept;
  }

  MfgHop play_hop(std::uint32_t h, BatchKey key, Mfg& mfg) {
    list_rows(mfg.nodes);
    std::vector<int> fanouts;
    for (std::size_t r = 0; r < graph_.slots->relations.size(); ++r) fanouts.push_back(rule_.fanout_of(r, h));
    const RowsOfSlots rows{rows_.data(), h, fanouts.data()};
    const auto num_rows = static_cast<LocalId>(rows_.size());
    MfgHop hop{
        .num_dst = static_cast<LocalId>(mfg.nodes.size()), .indptr = {0}, .indices = {}, .row_begin = row_begin_};
    const std::vector<NodeId> kept =
        excluded_.slots == nullptr ? keep(rows, key, hop) : keep(RowsWithout<RowsOfSlots>{rows, excluded_}, key, hop);
    for (std::size_t e = 0; e < kept.size(); ++e)  // as an entry's thread finds its row
      EXPECT_LE(hop.indptr[static_cast<std::size_t>(
                    last_not_above(LocalId{0}, num_rows, static_cast<std::int64_t>(e),
                                   [&](LocalId i) { return std::int64_t{hop.indptr[static_cast<std::size_t>(i)]}; }))],
                static_cast<LocalId>(e));
    number(kept, mfg, hop);
    return hop;
  }

  /// The smallest item of each id, ranks of the entries that are one, and then numbers.
  void number(const std::vector<NodeId>& kept, Mfg& mfg, MfgHop& hop) {
    std::map<NodeId, std::size_t> table;
    const auto num_dst = static_cast<std::size_t>(hop.num_dst);
    for (std::size_t i = 0; i < num_dst; ++i) table.emplace(mfg.nodes[i], i);
    for (std::size_t e = 0; e < kept.size(); ++e) table.emplace(kept[e], num_dst + e);
    std::vector<std::uint64_t> ranks{0};
    for (std::size_t e = 0; e < kept.size(); ++e)
      ranks.push_back(ranks.back() +
                      (table[kept[e]] == num_dst + e ? nodes_and_rows::one_node(slots_.num_slots_of(kept[e])) : 0));
    const LocalId num_rows = row_begin_.back();
    mfg.nodes.resize(num_dst + static_cast<std::size_t>(nodes_and_rows::nodes(ranks.back())));
    row_begin_.resize(mfg.nodes.size() + 1);
    for (std::size_t e = 0; e < kept.size(); ++e) {
      const LocalId before = nodes_and_rows::nodes(ranks[e]);
      if (before == nodes_and_rows::nodes(ranks[e + 1])) continue;
      const std::size_t at = num_dst + static_cast<std::size_t>(before);
      mfg.nodes[at] = kept[e];
      row_begin_[at + 1] = num_rows + static_cast<LocalId>(nodes_and_rows::rows(ranks[e + 1]));
      table[kept[e]] = at;
    }
    for (const NodeId id : kept) hop.indices.push_back(static_cast<LocalId>(table[id]));
    hop.num_src = static_cast<LocalId>(mfg.nodes.size());
  }

  CsrGraph graph_;
  SamplingRule rule_;
  DeviceExclusions excluded_;
  DeviceValuedCsr csr_;
  std::vector<DeviceNodeType> types_;
  DeviceSlots slots_;
  std::vector<LocalId> row_begin_{};
  std::vector<HopSlot> rows_{};
  std::size_t num_listed_ = 0;
};

/// counts_kernel and begins_kernel, of what a stable sort by key gives.
struct PlayedList {
  std::vector<std::uint16_t> keys{};
  std::vector<LocalId> items{};

  template <class KeyOf>
  PlayedList(LocalId count, const KeyOf& key_of) : items(static_cast<std::size_t>(count)) {
    std::iota(items.begin(), items.end(), 0);
    std::ranges::stable_sort(items, {}, key_of);
    for (const LocalId item : items) keys.push_back(static_cast<std::uint16_t>(key_of(item)));
  }
  LocalId begin(int key) const {
    return first_not_below(static_cast<LocalId>(keys.size()),
                           [&](LocalId i) { return keys[static_cast<std::size_t>(i)] < key; });
  }
  LocalId count_below(int key, LocalId level) const {
    return first_not_below(static_cast<LocalId>(keys.size()),
                           [&](LocalId i) {
                             const auto at = static_cast<std::size_t>(i);
                             return keys[at] < key || (keys[at] == key && items[at] < level);
                           }) -
           begin(key);
  }
};

void expect_types(const Mfg& mfg, const PlayedSampler& played, const SlotTable& slots) {
  MfgTypes types;
  MfgShape shape = shape_of(mfg);
  types.count(mfg, slots, shape);
  const auto num_types = static_cast<int>(slots.num_types()), num_relations = static_cast<int>(slots.relations.size());
  const PlayedList by_type(shape.num_nodes,
                           [&](LocalId i) { return played.slots().type_of(mfg.nodes[static_cast<std::size_t>(i)]); });
  for (std::size_t h = 0; h < mfg.hops.size(); ++h) {
    const MfgHop& hop = mfg.hops[h];
    const TypedHopShape& typed = shape.typed_hops[h];
    for (int t = 0; t < num_types; ++t) {
      ASSERT_EQ(by_type.count_below(t, hop.num_src), typed.num_src_of_type[static_cast<std::size_t>(t)]);
      ASSERT_EQ(by_type.count_below(t, hop.num_dst), typed.num_dst_of_type[static_cast<std::size_t>(t)]);
    }
    const PlayedList by_relation(typed.num_rows, [&](LocalId i) {
      const auto row = static_cast<std::size_t>(i);
      return hop.indptr[row] < hop.indptr[row + 1] ? int{played.rows()[row].relation} : num_relations;
    });
    for (int r = 0; r <= num_relations; ++r)
      ASSERT_EQ(by_relation.begin(r), typed.relation_begin[static_cast<std::size_t>(r)]);
  }
}

TEST(DeviceRows, PlayedOnTheHostGiveTheReferencesBatches) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const test::TypedRows rows =
        test::random_rows(random, seed % 10 == 9 ? test::RowsOptions{3, 300, 8} : test::RowsOptions{});
    SamplingRule rule = test::random_rule(random, rows);
    PlayedSampler played(rows.view(), rule);
    for (std::uint32_t batch = 0; batch < 3; ++batch) {
      const std::vector<NodeId> seeds = test::random_seeds(random, rows.slots.num_nodes());
      const BatchKey key{seed, 1, batch};
      const Mfg expected = reference_sample(rows.view(), rule, seeds, key);
      ASSERT_EQ(played.sample(seeds, key), expected);
      ASSERT_NO_FATAL_FAILURE(expect_types(expected, played, rows.slots));
    }
  }
}

TEST(DeviceRows, PlayedWithoutSomeEntriesGiveTheReferencesBatches) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const test::TypedRows rows = test::random_rows(random);
    const CsrGraph graph = rows.view();
    const SamplingRule rule = test::random_rule(random, rows);
    const std::vector<EntryKey> keys = test::random_keys(graph, seed);
    const Exclusions excluded = test::exclusions_of(graph, keys);
    const test::PlayedExclusions on_device({graph.indptr.data(), graph.indices.data(), graph.num_nodes()}, keys);
    PlayedSampler played(graph, rule, on_device.view());
    const std::vector<NodeId> seeds = test::random_seeds(random, rows.slots.num_nodes());
    ASSERT_EQ(played.sample(seeds, {seed, 1, 2}),
              reference_excluding_sample(graph, rule, seeds, {seed, 1, 2},
                                         [&](std::uint32_t row) { return excluded.of(row); }));
  }
}

TEST(DeviceRows, APlaceIsWithinBoundsWhereTheRuleAdmitsIt) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> some{kLeast, kLeast + 1, -3, 0, 0, 1, 3, 3, 5, 5, 5, 9, kMost - 1, kMost, kMost};
  for (std::size_t count = 0; count <= some.size(); ++count) {
    const std::span<const std::int64_t> times(some.data(), count);
    for (const std::int64_t seed_time : some)
      for (const TimeOrder order : {TimeOrder::kBefore, TimeOrder::kUpTo})
        for (const std::optional<std::int64_t> window :
             {std::optional<std::int64_t>(), {1}, {2}, {5}, {kMost - 1}, {kMost}})
          for (const std::uint32_t most : {1U, 2U, 100U, 0xFFFFFFFFU}) {
            const TimeRule rule{.order = order, .window = window};
            TimeRange expected = admitted(times, seed_time, rule);
            if (expected.end - expected.begin > most) expected.begin = expected.end - most;
            const TimeRange found =
                places_within(times.data(), static_cast<std::uint32_t>(count), bounds_of(seed_time, rule), most);
            ASSERT_EQ(found.end - found.begin, expected.end - expected.begin) << seed_time << ' ' << name_of(order);
            if (found.begin == found.end) continue;
            ASSERT_EQ(found, expected) << seed_time << ' ' << name_of(order);
          }
  }
}

TEST(DeviceRows, SumsOfNodesAndRowsKeepBoth) {
  using namespace nodes_and_rows;
  const std::uint64_t sum = (std::uint64_t{0x1FFFFFFFF} << kNodeBits) | 0x7FFFFFFF;
  EXPECT_EQ(nodes(sum), 0x7FFFFFFF);
  EXPECT_EQ(rows(sum), kMostRows);
  EXPECT_EQ(rows(one_node(0)), 0u);
  EXPECT_EQ(nodes(one_node(4096) + one_node(0)), 2);
  EXPECT_EQ(rows(one_node(4096) + one_node(3)), 4099u);
}

TEST(DeviceRows, TypesAreThoseOfTheSlotTable) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const test::TypedRows rows = test::random_rows(random);
    const std::vector<DeviceNodeType> types = device_types_of(rows.slots);
    const DeviceSlots slots{types.data(), rows.slots.relations.data(), static_cast<int>(types.size())};
    for (NodeId v = 0; v < rows.slots.num_nodes(); ++v) {
      const std::size_t type = rows.slots.type_of(v);
      ASSERT_EQ(static_cast<std::size_t>(slots.type_of(v)), type);
      for (std::uint32_t k = 0; k < rows.slots.num_slots[type]; ++k) {
        const HopSlot row = slots.row_of(v, k);
        ASSERT_EQ(row.row, rows.slots.row_of(type, v, k));
        ASSERT_EQ(row.relation, rows.slots.relation_of(type, k));
        ASSERT_EQ(std::pair(row.dst, row.slot), std::pair(v, static_cast<std::uint16_t>(k)));
      }
    }
  }
}

}  // namespace
}  // namespace salient
