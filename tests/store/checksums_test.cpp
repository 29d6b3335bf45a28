// tests/store/checksums_test.cpp - a changed byte of a short store is noticed when a run opens it.
#include "store/checksums.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/small_store.h"

namespace salient {
namespace {

using test::expect_refused, test::read_bytes, test::SmallStore, test::write_bytes;

TEST(Checksums, AChangedFigureOfTheManifestIsRefused) {
  const SmallStore store;
  std::string text = read_bytes(store / "dataset.json");
  const std::string seed = "\"rng_seed\": ";
  text[text.find(seed) + seed.size()] = '7';
  write_bytes(store / "dataset.json", text);
  expect_refused(store, 65, {"dataset.json: is damaged or was edited"});
}

TEST(Checksums, AChangedByteOfAShortStoreIsRefused) {
  const SmallStore store;
  EXPECT_NO_THROW(check_checksums_of_short_store(store.path(), 1 << 20));
  std::string features = read_bytes(store / "features.npy");
  features.back() = static_cast<char>(features.back() ^ 1);
  write_bytes(store / "features.npy", features);
  EXPECT_COMPLAINT(check_checksums_of_short_store(store.path(), 1 << 20), 65, "features.npy: XXH3 checksum");
  EXPECT_NO_THROW(check_checksums_of_short_store(store.path(), 100)) << "too long to be read each time";
}

}  // namespace
}  // namespace salient
