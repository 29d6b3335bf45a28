// tests/store/parts_test.cpp - parts come back as written; each way to break their files is named.
#include "store/parts.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "core/files/npy.h"
#include "core/files/sealed_json.h"
#include "tests/support/owners.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

using test::Complaint, test::kOwners, test::Owners, test::read_bytes, test::SmallStore, test::write_bytes;

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
  EXPECT_COMPLAINT(open_parts(dataset), 66, "has no parts");
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

TEST(Parts, AreNotReadFromAPipe) {
  const Partitioned made;
  for (const char* name : {"owner.npy", kPartsName}) {
    std::filesystem::remove(made.store / name);
    ASSERT_EQ(mkfifo((made.store / name).c_str(), 0600), 0);
    const Complaint complaint = test::complaint_of([&] { (void)open_parts(made.dataset); });  // without a writer
    EXPECT_TRUE(complaint.mentions(name)) << complaint.text;
  }
  write_parts(made.dataset, kOwners, 5, "again");
  EXPECT_EQ(open_parts(made.dataset).method, "again");
}

/// @return  names in the folder
std::set<std::string> files_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

TEST(Parts, ThatCannotBeWrittenLeaveNothing) {
  const SmallStore store;
  const Dataset dataset = open_dataset(store.path(), 1);
  const std::set<std::string> before = files_in(store.path());
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);  // so that a write fails as on a full disk
  const rlimit tight{4100, limit.rlim_max};            // inside the owners
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const Complaint refusal = test::complaint_of([&] { write_parts(dataset, kOwners, 5, "hand"); });
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, ignored);
  EXPECT_EQ(refusal.exit_code, 74);
  EXPECT_TRUE(refusal.mentions("owner.npy.tmp-") && refusal.mentions(": cannot write")) << refusal.text;
  EXPECT_EQ(files_in(store.path()), before);
  std::filesystem::create_directory(store / "owner.npy");
  EXPECT_COMPLAINT(write_parts(dataset, kOwners, 5, "hand"), 74, "owner.npy: cannot rename");
}

/// What a kill leaves at each moment of replacing parts: the old ones or the new ones, and the next writer tidies up.
TEST(Parts, AreReplacedAtOneMoment) {
  const Partitioned made;
  const std::set<std::string> names = files_in(made.store.path());
  write_parts(made.dataset, Owners(8, 0), 1, "again");
  const std::string new_owners = read_bytes(made.store / "owner.npy"), new_parts = read_bytes(made.store / kPartsName);
  const std::string checksum = open_parts(made.dataset).xxh3;
  write_parts(made.dataset, kOwners, 5, "hand");
  EXPECT_EQ(files_in(made.store.path()), names);

  write_bytes(made.store / ("owner.npy." + checksum), new_owners);
  write_bytes(made.store / "owner.npy.tmp-host-1", "half");
  EXPECT_EQ(open_parts(made.dataset).method, "hand") << "until parts.json names the new file";
  EXPECT_NO_THROW(verify_parts(made.dataset));

  write_bytes(made.store / kPartsName, new_parts);
  EXPECT_EQ(open_parts(made.dataset).method, "again") << "while owner.npy is still the old one";
  EXPECT_NO_THROW(verify_parts(made.dataset));

  settle_parts(made.store.path());
  EXPECT_EQ(files_in(made.store.path()), names);
  EXPECT_EQ(read_bytes(made.store / "owner.npy"), new_owners);
  EXPECT_NO_THROW(verify_parts(made.dataset));
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

}  // namespace
}  // namespace salient
