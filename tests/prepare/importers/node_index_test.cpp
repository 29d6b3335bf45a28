// tests/prepare/importers/node_index_test.cpp - ids become their ranks, by bits as by sorting.
#include "prepare/importers/node_index.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace salient {
namespace {

using Numbers = std::vector<std::uint64_t>;

NodeIndex index_of(const Numbers& a, const Numbers& b = {}) {
  const std::array<std::span<const std::uint64_t>, 2> lists = {a, b};
  return NodeIndex::of_numbers(lists, {});
}

TEST(NodeIndex, NumbersAreTheirRanksAsBySorting) {
  std::mt19937_64 random(1);
  const std::uint64_t limits[] = {1, 31, 32, 33, 1000, 30'000, 40'000, 5'000'000'000, ~std::uint64_t{0}};
  for (const std::uint64_t limit : limits)
    for (const std::uint64_t from : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{70}}) {
      Numbers ids(1000), others(17), all;
      for (Numbers* list : {&ids, &others})
        for (std::uint64_t& id : *list) all.push_back(id = random() % limit + (limit < 1000 ? from : 0));
      NodeIndex found = index_of(ids, others), expected = NodeIndex::of_numbers_reference(all);
      ASSERT_EQ(found.num_nodes(), expected.num_nodes()) << limit;
      for (const std::uint64_t id : all)
        for (const std::uint64_t near : {id - 1, id, id + 1, id + (std::uint64_t{1} << 32)})
          ASSERT_EQ(found.find(near), expected.find(near)) << near << " of " << limit;
      EXPECT_EQ(found.take_numbers(), expected.take_numbers()) << limit;
    }
}

TEST(NodeIndex, NumbersWithoutAGapNeedNoTable) {
  NodeIndex from_zero = index_of({2, 0, 1}), from_one = index_of({3, 1}, {2});
  EXPECT_EQ(from_zero.find(2), 2u);
  EXPECT_TRUE(from_zero.take_numbers().empty());
  EXPECT_EQ(from_one.find(3), 2u);
  EXPECT_EQ(from_one.find(0), std::nullopt);
  EXPECT_EQ(from_one.find(4), std::nullopt);
  EXPECT_EQ(from_one.find("1"), 0u);
  EXPECT_EQ(from_one.take_numbers(), (Numbers{1, 2, 3}));
  EXPECT_EQ(index_of({}).num_nodes(), 0u);
  EXPECT_EQ(index_of({7}).find(7), 0u);
}

}  // namespace
}  // namespace salient
