// tests/engine/infer/selected_nodes_test.cpp - nodes of a split, all nodes, or a list from a file; lists that are
// refused.
#include "engine/infer/selected_nodes.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/files/npy.h"
#include "tests/support/datasets.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

class SelectNodes : public ::testing::Test {
 protected:
  template <class T>
  std::filesystem::path list(const std::vector<T>& ids, const char* dtype) {
    const auto path = scratch_ / "ids.npy";
    std::filesystem::remove(path);
    NpyWriter writer(path, dtype, {ids.size()});
    writer.write(ids);
    writer.close();
    return path;
  }
  const test::Scratch scratch_;
  const Dataset dataset_ = test::generated_dataset(50, 3, 4);
};

TEST_F(SelectNodes, KeepsTheOrderOfItsSource) {
  EXPECT_EQ(select_nodes(dataset_, "train"), std::vector<NodeId>(dataset_.train.begin(), dataset_.train.end()));
  EXPECT_EQ(select_nodes(dataset_, "all").size(), 50U);
  EXPECT_EQ(select_nodes(dataset_, list<std::int64_t>({7, 49, 0}, "<i8")), (std::vector<NodeId>{7, 49, 0}));
  EXPECT_EQ(select_nodes(dataset_, list<std::uint16_t>({3, 1}, "<u2")), (std::vector<NodeId>{3, 1}));
}

TEST_F(SelectNodes, AMaskSelectsItsNodes) {
  std::vector<std::uint8_t> mask(50, 0);
  mask[3] = mask[49] = 1;
  EXPECT_EQ(select_nodes(dataset_, list(mask, "|b1")), (std::vector<NodeId>{3, 49}));
  mask.pop_back();
  EXPECT_COMPLAINT(select_nodes(dataset_, list(mask, "|b1")), ErrorKind::kBadData, "a bool for each of the 50 nodes");
}

TEST_F(SelectNodes, RefusesWhatNoSamplerTakes) {
  EXPECT_COMPLAINT(select_nodes(dataset_, list<std::int64_t>({1, 50}, "<i8")), ErrorKind::kBadData,
                   "item 1 is 50, the graph has nodes 0 to 49, which count from 0; do the ids count from 1?");
  EXPECT_COMPLAINT(select_nodes(dataset_, list<std::uint64_t>({~std::uint64_t{0}}, "<u8")), ErrorKind::kBadData,
                   "item 0 is 18446744073709551615");
  EXPECT_COMPLAINT(select_nodes(dataset_, list<std::int32_t>({-1}, "<i4")), ErrorKind::kBadData, "-1");
  EXPECT_COMPLAINT(select_nodes(dataset_, list<std::int64_t>({4, 9, 4}, "<i8")), ErrorKind::kBadData, "node 4");
  EXPECT_COMPLAINT(select_nodes(dataset_, list<float>({1}, "<f4")), ErrorKind::kBadData, "integer");
  EXPECT_COMPLAINT(select_nodes(dataset_, list<std::int64_t>({}, "<i8")), ErrorKind::kUsage, "has no nodes");
  EXPECT_COMPLAINT(select_nodes(dataset_, "valid"), ErrorKind::kUsage, "has no nodes");
  EXPECT_COMPLAINT(select_nodes(dataset_, "absent.npy"), ErrorKind::kNoInput, "absent.npy");
}

}  // namespace
}  // namespace salient
