// tests/store/part_rows_file_test.cpp - a file has the rows of its part, and no other is taken for it.
#include "store/part_rows_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "store/checksums.h"
#include "store/open_store.h"
#include "tests/support/owners.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

using test::Complaint, test::kOwners, test::Owners, test::read_bytes, test::SmallStore, test::write_bytes;

/// A store in parts, each with a file of rows.
struct PartitionedRows {
  SmallStore store{};
  Dataset dataset = open_dataset(store.path(), 1);
  PartitionedRows() {
    write_parts(dataset, kOwners, 5, "earlier");
    const std::vector<std::string> checksums = write_part_rows(dataset, kOwners, 5);
    EXPECT_TRUE(has_parts(store.path())) << "the earlier ones";
    write_parts(dataset, kOwners, 5, "hand", checksums);
  }
};

/// A folder of one host: the store without features.npy, with the rows of `parts` alone.
void leave_rows_of(const PartitionedRows& made, const std::set<int>& parts) {
  std::filesystem::remove(made.store / "features.npy");
  for (int part = 0; part < 5; ++part)
    if (!parts.contains(part)) std::filesystem::remove(made.store / part_rows_file(part));
}

void expect_rows_of_nodes(const Dataset& dataset, const Owners& owner, int num_parts) {
  const Parts parts = open_parts(dataset);
  const std::size_t row_bytes = dataset.features.row_bytes;
  for (int part = 0; part < num_parts; ++part) {
    const NpyFile file = open_part_rows(dataset, parts, part);
    std::string expected;
    for (NodeId v = 0; v < owner.size(); ++v)
      if (owner[v] == part) expected.append(reinterpret_cast<const char*>(dataset.features.row(v)), row_bytes);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(file.data().data()), file.data().size()), expected) << part;
  }
}

TEST(PartRowsFile, HasTheRowsOfItsNodesInTheirOrder) {
  const PartitionedRows made;
  const Parts parts = open_parts(made.dataset);
  EXPECT_EQ(part_rows_here(made.store.path(), parts), (std::vector<int>{0, 1, 2, 3, 4}));
  expect_rows_of_nodes(made.dataset, kOwners, 5);
  EXPECT_NE(parts_text(made.dataset, parts).find("parts all 5; and features.npy"), std::string::npos);
  write_parts(made.dataset, kOwners, 5, "again");
  EXPECT_FALSE(std::filesystem::exists(made.store / part_rows_file(2))) << "which are not those of the new parts";
}

TEST(PartRowsFile, AreAsManyAsThereAreParts) {
  const SmallStore store;
  const Dataset dataset = open_dataset(store.path(), 1);
  const Owners owner{129, 63, 64, 0, 128, 65, 64, 127};  // of 130 parts, more than are written at a time
  write_parts(dataset, owner, 130, "hand", write_part_rows(dataset, owner, 130));
  EXPECT_EQ(part_rows_here(store.path(), open_parts(dataset)).size(), 130u);
  expect_rows_of_nodes(dataset, owner, 130);
}

TEST(PartRowsFile, ServesInPlaceOfAllRows) {
  const PartitionedRows made;
  leave_rows_of(made, {2});
  EXPECT_COMPLAINT(open_dataset(made.store.path(), 1), 66, "features.npy is missing");
  EXPECT_NO_THROW(verify_dataset(made.store.path(), 1));
  const Dataset dataset = open_store(made.store.path(), 1, FeatureFile::kOrParts).dataset;
  EXPECT_EQ(dataset.features.data, nullptr);
  EXPECT_EQ(dataset.features.num_rows, 8u);
  EXPECT_EQ(dataset.fingerprint, made.dataset.fingerprint);
  const Parts parts = open_parts(dataset);
  EXPECT_NO_THROW(verify_parts(dataset));
  EXPECT_NO_THROW(check_checksums_of_short_store(made.store.path(), 1 << 20, FeatureFile::kOrParts));
  EXPECT_EQ(open_part_rows(dataset, parts, 2).header().shape[0], 3u);
  EXPECT_NE(parts_text(dataset, parts).find("parts 2 of 5; no features.npy"), std::string::npos);
  EXPECT_COMPLAINT(open_part_rows(dataset, parts, 0), 66, "parts whose rows are here: 2 of 5");
}

TEST(PartRowsFile, OfAnotherPartIsNamed) {
  const PartitionedRows made;
  leave_rows_of(made, {2, 3});
  const Dataset dataset = open_store(made.store.path(), 1, FeatureFile::kOrParts).dataset;
  const Parts parts = open_parts(dataset);
  std::filesystem::rename(made.store / part_rows_file(2), made.store / part_rows_file(0));
  EXPECT_COMPLAINT(open_part_rows(dataset, parts, 0), 65, "features-part-0.npy: has the rows of part 2");
  EXPECT_COMPLAINT(verify_parts(dataset), 65, "features-part-0.npy: has the rows of part 2");
  std::filesystem::remove(made.store / part_rows_file(0));
  std::string bytes = read_bytes(made.store / part_rows_file(3));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_bytes(made.store / part_rows_file(3), bytes);
  EXPECT_COMPLAINT(open_part_rows(dataset, parts, 3), 65, "features-part-3.npy: XXH3 checksum");
  std::filesystem::remove(made.store / part_rows_file(3));
  EXPECT_COMPLAINT(open_part_rows(dataset, parts, 3), 66, "parts whose rows are here: none");
  EXPECT_COMPLAINT(verify_parts(dataset), 66, "features.npy is missing, and so are the feature rows of every part");
  std::filesystem::remove(made.store / kPartsName);
  EXPECT_COMPLAINT(open_store(made.store.path(), 1, FeatureFile::kOrParts), 66, "features.npy is missing");
}

TEST(PartRowsFile, AreNotThereForPartsWithoutThem) {
  const PartitionedRows made;
  write_parts(made.dataset, kOwners, 5, "without");
  std::filesystem::remove(made.store / "features.npy");
  const Dataset dataset = open_store(made.store.path(), 1, FeatureFile::kOrParts).dataset;
  EXPECT_COMPLAINT(open_part_rows(dataset, open_parts(dataset), 0), 66, "is missing, and so is features.npy");
}

TEST(PartRowsFile, ThatCannotBeWrittenLeaveTheEarlierOnes) {
  const PartitionedRows made;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);  // so that a write fails as on a full disk
  const rlimit tight{4100, limit.rlim_max};            // part 0 has no rows, and fits
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const Complaint refusal = test::complaint_of([&] {
    write_part_rows(made.dataset, Owners{1, 1, 1, 1, 1, 1, 1, 1}, 2);
  });
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, ignored);
  EXPECT_EQ(refusal.exit_code, 74) << refusal.text;
  EXPECT_NO_THROW(verify_parts(made.dataset));
  expect_rows_of_nodes(made.dataset, kOwners, 5);
  for (const auto& entry : std::filesystem::directory_iterator(made.store.path()))
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
}

}  // namespace
}  // namespace salient
