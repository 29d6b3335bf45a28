// tests/store/parts_test.cpp - parts come back as written; each way to break their files is named.
#include "store/parts.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "core/files/npy.h"
#include "core/files/sealed_json.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

using test::read_bytes, test::SmallStore, test::write_bytes;
using Owners = std::vector<std::uint16_t>;

const Owners kOwners{0, 2, 2, 0, 3, 0, 0, 2};  // of 5 parts, two of them without nodes

/// A store in parts, for tests that then break something.
struct Partitioned {
  SmallStore store{};
  Dataset dataset = open_dataset(store.path(), 1);
  Partitioned() { write_parts(dataset, kOwners, 5, "hand"); }

  template <class T>
  void replace_owners(const char* dtype, std::vector<std::uint64_t> shape, const std::vector<T>& values) const {
    std::filesystem::remove(store / "owner.npy");
    NpyWriter writer(store / "owner.npy", dtype, std::move(shape));
    writer.write(values);
    writer.close();
  }
  void edit(const std::function<void(nlohmann::json&)>& change) const {
    nlohmann::json root = nlohmann::json::parse(read_bytes(store / kPartsName));
    change(root);
    root.erase("checksum");
    write_bytes(store / kPartsName, root.dump(2));
  }
};

TEST(Parts, ComeBackAsWritten) {
  const Partitioned made;
  EXPECT_TRUE(has_parts(made.store.path()));
  const Parts parts = open_parts(made.dataset);
  EXPECT_EQ(parts.num_parts, 5);
  EXPECT_EQ(parts.method, "hand");
  EXPECT_EQ(Owners(parts.owner.begin(), parts.owner.end()), kOwners);
  EXPECT_NO_THROW(verify_parts(made.dataset));
  EXPECT_NO_THROW(verify_dataset(made.store.path(), 1)) << "the data set is what it was";
  const std::string text = parts_text(made.dataset, parts);
  EXPECT_NE(text.find("5 by hand: 0 to 4 nodes, of which 0 to 1 to train"), std::string::npos) << text;
  // Of 17 entries, 0-1, 2-3, 3-4, 4-5 and 1-4 lead to another part, each in both directions.
  EXPECT_NE(text.find("cut             58.8 %"), std::string::npos) << text;
  write_parts(made.dataset, Owners(8, 0), 1, "again");
  EXPECT_EQ(open_parts(made.dataset).num_parts, 1);
}

TEST(Parts, AreMissedByName) {
  const SmallStore store;
  const Dataset dataset = open_dataset(store.path(), 1);
  EXPECT_FALSE(has_parts(store.path()));
  EXPECT_COMPLAINT(open_parts(dataset), 66, "has no parts; salient-prepare partition");
  Dataset generated;
  generated.name = "twin";
  EXPECT_COMPLAINT(open_parts(generated), 66, "twin: is generated in memory and has no parts");
  const Partitioned made;
  std::filesystem::remove(made.store / "owner.npy");
  EXPECT_COMPLAINT(open_parts(made.dataset), 66, "owner.npy");
}

TEST(Parts, RefuseAnOwnerFileThatIsNotOfThisDataSet) {
  const Partitioned made;
  made.replace_owners<std::uint16_t>("<u2", {7}, Owners(7));
  EXPECT_COMPLAINT(open_parts(made.dataset), 65, "owner.npy");
  made.replace_owners<std::uint16_t>("<u2", {2, 4}, Owners(8));
  EXPECT_COMPLAINT(open_parts(made.dataset), 65, "owner.npy");
  made.replace_owners<std::int16_t>("<i2", {8}, std::vector<std::int16_t>(8));
  EXPECT_COMPLAINT(open_parts(made.dataset), 65, "owner.npy");
  made.replace_owners<std::uint32_t>("<u4", {8}, std::vector<std::uint32_t>(8));
  EXPECT_COMPLAINT(open_parts(made.dataset), 65, "owner.npy");
  made.replace_owners<std::uint16_t>("<u2", {8}, {0, 1, 5, 0, 0, 65535, 0, 0});
  EXPECT_COMPLAINT(open_parts(made.dataset), 65, "owner.npy: node 2 belongs to part 5, there are 5");
}

TEST(Parts, RefuseFiguresThatCannotBe) {
  const Partitioned made;
  for (const std::int64_t parts : {-1, 0, 65537, 70000}) {
    made.edit([&](nlohmann::json& root) { root["num_parts"] = parts; });
    EXPECT_COMPLAINT(open_parts(made.dataset), 65, "num_parts");
  }
  made.edit([](nlohmann::json& root) { root["num_parts"] = 65536; });
  EXPECT_EQ(open_parts(made.dataset).num_parts, 65536);
  made.edit([](nlohmann::json& root) { root["dataset"] = "0123456789abcdef"; });
  EXPECT_COMPLAINT(open_parts(made.dataset), 65, "the parts are those of another data set");
  made.edit([](nlohmann::json& root) { root["format"] = "salient dataset"; });
  EXPECT_COMPLAINT(open_parts(made.dataset), 65, "is not 'salient parts'");
}

TEST(Parts, NoticeAChangedByte) {
  const Partitioned made;
  std::string bytes = read_bytes(made.store / "owner.npy");
  bytes[bytes.size() - 2] = 1;  // node 7 to part 1, which there is
  write_bytes(made.store / "owner.npy", bytes);
  EXPECT_NO_THROW(open_parts(made.dataset));
  EXPECT_COMPLAINT(verify_parts(made.dataset), 65, "owner.npy: XXH3 checksum");
  std::string text = read_bytes(made.store / kPartsName);
  text[text.find("hand")] = 'H';
  write_bytes(made.store / kPartsName, text);
  EXPECT_COMPLAINT(open_parts(made.dataset), 65, "is damaged or was edited");
}

/// Whatever a byte becomes, the parts are refused in one line or are parts.
TEST(Parts, SurviveAnyChangedByte) {
  const Partitioned made;
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same bytes in every run
  for (const char* name : {"owner.npy", kPartsName}) {
    const std::string good = read_bytes(made.store / name);
    for (int trial = 0; trial < 300; ++trial) {
      std::string bytes = good;
      const std::size_t at = random() % std::min<std::size_t>(bytes.size(), trial % 2 == 0 ? 128 : bytes.size());
      bytes[at] = static_cast<char>(random());
      if (trial % 7 == 0) bytes.resize(random() % bytes.size());
      write_bytes(made.store / name, bytes);
      try {
        const Parts parts = open_parts(made.dataset);
        ASSERT_EQ(parts.owner.size(), 8u);
        for (const std::uint16_t part : parts.owner) ASSERT_LT(part, parts.num_parts);
      } catch (const Error& error) {
        EXPECT_EQ(static_cast<int>(error.kind()), 65) << error.what();
      }
    }
    write_bytes(made.store / name, good);
  }
}

}  // namespace
}  // namespace salient
