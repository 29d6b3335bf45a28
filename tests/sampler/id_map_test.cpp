// tests/sampler/id_map_test.cpp - against std::unordered_map.
#include "sampler/id_map.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace salient {
namespace {

/// @param stride  0x10000 and more give all ids the same tag, so that only the ids themselves differ.
class IdMapOfStride : public testing::TestWithParam<NodeId> {};

TEST_P(IdMapOfStride, NumbersByFirstSightLikeAnUnorderedMap) {
  std::mt19937 random(1);
  IdMap map;
  for (const std::size_t batch_size : {10u, 5000u, 0u, 300u}) {  // grows, then keeps its memory
    map.clear();
    std::unordered_map<NodeId, LocalId> expected;
    for (int call = 0; call < 5; ++call) {
      std::vector<NodeId> ids(batch_size);
      for (NodeId& id : ids) id = static_cast<NodeId>(random() % (2 * batch_size)) * GetParam();
      std::vector<LocalId> numbers(batch_size);
      map.number_all(ids, numbers.data());
      for (std::size_t i = 0; i < batch_size; ++i)
        ASSERT_EQ(numbers[i], expected.emplace(ids[i], static_cast<LocalId>(expected.size())).first->second);
    }
    ASSERT_EQ(map.size(), expected.size());
    for (std::size_t i = 0; i < map.size(); ++i) ASSERT_EQ(expected.at(map.ids()[i]), static_cast<LocalId>(i));
  }
}

INSTANTIATE_TEST_SUITE_P(Ids, IdMapOfStride, testing::Values(1, 0x10001, 0x10000, 0x40000));

TEST(IdMap, HandsOutItsIdsAndTakesTheirMemoryBack) {
  IdMap map;
  std::vector<LocalId> numbers(1000);
  std::vector<NodeId> ids(1000);
  std::iota(ids.begin(), ids.end(), NodeId{0xFFFFFC17});  // up to the largest id
  map.clear();
  map.number_all(ids, numbers.data());
  std::vector<NodeId> taken = map.take_ids();
  EXPECT_EQ(taken, ids);
  const NodeId* const memory = taken.data();
  map.clear(std::move(taken));
  map.number_all(std::span(ids).last(1), numbers.data());
  EXPECT_EQ(numbers[0], 0);
  taken = map.take_ids();
  EXPECT_EQ(taken, std::vector<NodeId>{0xFFFFFFFE});
  EXPECT_EQ(taken.data(), memory);
}

}  // namespace
}  // namespace salient
