// tests/store/store_bytes_test.cpp - a plain store is of format 1, byte for byte what it was before there were types.
#include <gtest/gtest.h>

#include "core/files/file_io.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

/// The hash of dataset.json, which has those of all other files; without what changes from version to version.
std::string hash_of(const test::SmallStore& store) {
  nlohmann::json root = nlohmann::json::parse(test::read_bytes(store / "dataset.json"));
  root.erase("created_by");
  root.erase("checksum");
  const std::string text = root.dump(2);
  return to_hex(digest_of(std::as_bytes(std::span(text))).xxh3);
}

TEST(StoreBytes, ArePinned) {
  EXPECT_EQ(hash_of(test::SmallStore()), "f14ccdd906bd4bad");
  EXPECT_EQ(hash_of(test::SmallStore(test::small_multi_label_graph())), "6baa6c064f41970c");
  EXPECT_EQ(hash_of(test::SmallStore(test::small_regression_graph())), "f615555cf47d8a30");
  EXPECT_EQ(hash_of(test::SmallStore(test::small_graph(), FeatureLayout::kCsr)), "e4724cabd6b1a458");
  EXPECT_EQ(hash_of(test::SmallStore(test::small_graph(), {}, /*in_fp8=*/true)), "d3f563dc891ef8ea");
}

}  // namespace
}  // namespace salient
