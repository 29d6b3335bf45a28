// tests/store/store_manifest_test.cpp - every field of dataset.json is needed, and a wrong one is named with its place.
#include "store/store_manifest.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/small_store.h"

namespace salient {
namespace {

using nlohmann::json;
using test::expect_refused, test::read_bytes, test::SmallStore, test::write_bytes;

TEST(StoreManifest, DescriptionIsJsonWithEveryField) {
  const SmallStore store;
  const std::string good = read_bytes(store / "dataset.json");
  write_bytes(store / "dataset.json", good.substr(0, good.find("\"num_edges\"") + 4));
  expect_refused(store, 65, {"dataset.json: line 6, column", "not JSON"});
  write_bytes(store / "dataset.json", "[1, 2]");
  expect_refused(store, 65, {"not a JSON object"});
  const json fields = json::parse(good);
  for (const auto& [name, value] : fields.items()) {
    if (name == "checksum") continue;  // not in older stores
    write_bytes(store / "dataset.json", good);
    store.edit_manifest([&field = name](json& root) { root.erase(field); });
    expect_refused(store, 65, {"dataset.json: line", "column", "'" + name + "' is missing"});
  }
  const auto refused = [&](const char* field, const json& value, const std::string& why) {
    write_bytes(store / "dataset.json", good);
    store.edit_manifest([&](json& root) { root[json::json_pointer(field)] = value; });
    expect_refused(store, 65, {"dataset.json: line", why});
  };
  refused("/num_nodes", "8", "'num_nodes' is not a whole number");
  refused("/num_nodes", 8.5, "'num_nodes' is not a whole number");
  refused("/num_nodes", -8, "'num_nodes' is -8, allowed are 1 to 4294967294");
  refused("/num_nodes", 4294967295, "allowed are 1 to 4294967294");
  refused("/symmetric", 1, "'symmetric' is neither true nor false");
  refused("/feature_dtype", "f64", "'feature_dtype' is 'f64', allowed are f16, f32 and fp8");
  refused("/format", "something", "'format' is 'something'");
  refused("/source", "wordnet", "'source' is not an object");
  refused("/source/kind", nullptr, "'source / kind' is not a string");
  refused("/files/indices.npy/xxh3", "12", "'files / indices.npy / xxh3' is not 16 hexadecimal digits");
  refused("/format", "two\nlines", "'format' is 'two\\nlines'");
  refused("/files/..~1secret", {{"bytes", 1}}, "is not a plain file name");
  refused("/feature_dim", 0, "is there, though feature_dim is 0");
  refused("/self_loops", 18, "'self_loops' is 18, allowed are 0 to 17");
}

TEST(StoreManifest, ColumnPointsAtTheField) {
  const SmallStore store;
  store.edit_manifest([](json& root) { root["num_classes"] = true; });
  const std::string text = read_bytes(store / "dataset.json");
  const std::size_t at = text.find("\"num_classes\"");
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  expect_refused(store, 65, {"line " + std::to_string(line) + ", column 3: field 'num_classes'"});
}

TEST(StoreManifest, UnknownFieldsAreFineANewerVersionIsNot) {
  const SmallStore store;
  store.edit_manifest([](json& root) { root["licence"] = "CC0"; });
  EXPECT_NO_THROW(open_dataset(store.path()));
  store.edit_manifest([](json& root) {
    root["format_version"] = 4;
    root["created_by"] = "salient-prepare 9.0";
  });
  expect_refused(store, 65, {"'format_version' is 4", "reads 1 to 3", "salient-prepare 9.0"});
}

TEST(StoreManifest, TaskIsAKnownOne) {
  const auto refused = [](const char* field, const json& value, const std::string& why) {
    const SmallStore store(test::small_multi_label_graph());
    store.edit_manifest([&](json& root) { root[field] = value; });
    expect_refused(store, 65, {"dataset.json: line", why});
  };
  refused("task", "ranking", "'task' is 'ranking', this program knows 'multi-label' and 'regression'");
  refused("task", true, "'task' is not a string");
  refused("num_classes", 0, "'num_classes' is 0, allowed are 1 to");
}

TEST(StoreManifest, SaysHowFeaturesWereMadeAsOlderStoresDidInTheirOptions) {
  const SmallStore store;
  StoreManifest manifest = parse_manifest(read_bytes(store / "dataset.json"), "FILE");
  EXPECT_EQ(manifest.feature_origin, FeatureOrigin{});
  EXPECT_EQ(manifest_text(manifest).find("feature_origin"), std::string::npos) << "nothing is to be said";
  manifest.rng_seed = 3;
  const auto read_again = [&] { return parse_manifest(manifest_text(manifest), "FILE").feature_origin; };
  manifest.source_options = "columns 0,1 --make-features random:4";
  EXPECT_EQ(read_again(), (FeatureOrigin{{"kind", "random"}, {"seed", "3"}, {"width", "4"}}));
  manifest.source_options = "--make-features degree";
  EXPECT_EQ(read_again(), (FeatureOrigin{{"kind", "degree"}}));
  manifest.feature_origin = {{"kind", "scaled"}};
  EXPECT_EQ(read_again(), manifest.feature_origin) << "the field counts";
  store.edit_manifest([](json& root) { root["feature_origin"] = {{"seed", 3}}; });
  expect_refused(store, 65, {"dataset.json: line", "'feature_origin / seed' is not a string"});
}

}  // namespace
}  // namespace salient
