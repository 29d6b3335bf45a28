// tests/prepare/importers/name_map_test.cpp - numbers of names against std::map, and the limit on their memory.
#include "prepare/importers/name_map.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/philox.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

TEST(NameMap, NumbersNamesAsAnOrderedMapDoes) {
  NameMap map;
  std::map<std::string, NodeId> expected;
  EXPECT_FALSE(map.find("x").has_value());
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const std::string name = "n" + std::to_string(philox4x32({{1, 2}}, {{i, 0, 0, 0}}).word[0] % 7'000);
    const auto [at, is_new] = expected.emplace(name, static_cast<NodeId>(expected.size()));
    ASSERT_EQ(map.add(name), at->second) << name;
  }
  ASSERT_EQ(map.size(), expected.size());
  for (const auto& [name, number] : expected) {
    EXPECT_EQ(map.find(name), number);
    EXPECT_EQ(map.names()[number], name);
  }
  EXPECT_FALSE(map.find("").has_value());
  EXPECT_EQ(map.add(""), expected.size()) << "an empty name is a name";
  EXPECT_EQ(map.take().size(), expected.size() + 1);
  EXPECT_EQ(map.size(), 0u);
  EXPECT_EQ(map.add("a"), 0u);
}

TEST(NameMap, AsksBeforeItGrows) {
  NameMap map{MemoryLimit(1 << 20)};
  EXPECT_COMPLAINT(map.add("a"), ErrorKind::kHostMemory, "the ids of the nodes: needs 0.");
}

}  // namespace
}  // namespace salient
