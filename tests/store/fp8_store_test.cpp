// tests/store/fp8_store_test.cpp - a store of fp8 features opens and verifies; each of its rules, broken alone, is
// named.
#include <gtest/gtest.h>

#include <limits>

#include "core/fp8.h"
#include "store/dataset.h"
#include "store/dataset_summary.h"
#include "store/synthetic.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

using nlohmann::json;
using test::expect_not_verified, test::expect_refused, test::SmallStore;

TEST(Fp8Store, OpensWhatWasWritten) {
  const test::Scratch scratch;
  write_store(test::small_graph(), {.out = scratch / "store", .num_threads = 1, .in_fp8 = true});
  const Dataset dataset = open_dataset(scratch / "store");
  EXPECT_EQ(dataset.feature_type, FeatureType::kFp8);
  EXPECT_EQ(dataset.fp8_scale, 0x1p-6F);
  EXPECT_EQ(dataset.features.fp8_scale, dataset.fp8_scale);
  EXPECT_EQ(dataset.features.row_bytes, 2u);
  EXPECT_EQ(dataset.feature_bytes(), 16u);
  EXPECT_EQ(dataset.gathered_row_bytes(), 4u);
  for (std::size_t i = 0; i < 16; ++i)  // quarters to 3.75 have four significant bits
    EXPECT_EQ(fp8_to_float(std::to_integer<std::uint8_t>(dataset.features.data[i])) * dataset.fp8_scale,
              static_cast<float>(i) / 4);
  EXPECT_NO_THROW(verify_dataset(scratch / "store"));
  EXPECT_NE(summary_text(dataset, summarise(dataset)).find("2 x fp8"), std::string::npos);
}

TEST(Fp8Store, RulesAreNamed) {
  const auto fp8_store = [] { return SmallStore(test::small_graph(), {}, true); };
  for (const json& scale : {json(0.3), json(0), json(-1), json(1e-9), json(256), json(1e99)}) {
    const SmallStore store = fp8_store();
    store.edit_manifest([&](json& root) { root["fp8_scale"] = scale; });
    expect_refused(store, 65, {"dataset.json: line", "'fp8_scale' is no power of two from 2^-15 to 2^7"});
  }
  const SmallStore store = fp8_store();
  store.edit_manifest([](json& root) { root.erase("fp8_scale"); });
  expect_refused(store, 65, {"'fp8_scale' is missing"});
  store.edit_manifest([](json& root) { root["fp8_scale"] = "1"; });
  expect_refused(store, 65, {"'fp8_scale' is not a number"});
  store.edit_manifest([](json& root) { root["fp8_scale"] = 1, root["feature_dtype"] = "f16"; });
  expect_refused(store, 65, {"features.npy: dtype |u1, expected <f2"});
  const SmallStore sparse(test::small_graph(), FeatureLayout::kCsr);
  sparse.edit_manifest([](json& root) { root["fp8_scale"] = 1, root["feature_dtype"] = "fp8"; });
  expect_refused(sparse, 65, {"'feature_dtype' is fp8, which sparse rows never are"});
}

TEST(Fp8Store, VerifyFindsWhatIsNoNumber) {
  const SmallStore store(test::small_graph(), {}, true);
  std::vector<std::uint8_t> values(16, 0x7E);
  values[5] = 0xFF;
  values[9] = 0x7F;
  store.replace_array("features.npy", "|u1", {8, 2}, values);
  expect_not_verified(store, {"features.npy: 2 values are not finite, the first in row 2, column 1"});
}

TEST(Fp8Store, GeneratedFeaturesAreThoseOfF32Rounded) {
  SyntheticOptions options{.num_nodes = 500, .feature_dim = 21, .feature_type = FeatureType::kF32, .split = {50, 5, 5}};
  const Dataset single = make_synthetic_dataset(options);
  options.feature_type = FeatureType::kFp8;
  const Dataset fp8 = make_synthetic_dataset(options);
  EXPECT_EQ(fp8.features.row_bytes, 21u);
  EXPECT_NE(fp8.fingerprint, single.fingerprint);
  const auto* const expected = reinterpret_cast<const float*>(single.features.data);
  for (std::size_t i = 0; i < 500 * 21; ++i)
    ASSERT_EQ(std::to_integer<std::uint8_t>(fp8.features.data[i]), float_to_fp8(expected[i] / fp8.fp8_scale)) << i;
}

}  // namespace
}  // namespace salient
