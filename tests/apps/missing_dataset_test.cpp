// tests/apps/missing_dataset_test.cpp - the commands that make a data set which is missing.
#include "apps/missing_dataset.h"

#include <gtest/gtest.h>

#include "tests/support/scratch.h"

namespace salient {
namespace {

TEST(MissingDataset, KnownNamesHaveTheirCommands) {
  EXPECT_EQ(
      how_to_get("data/wordnet/"),
      "prepare it (seconds): sudo apt-get install --no-install-recommends wordnet-base && salient-prepare wordnet "
      "--out data/wordnet/");
  EXPECT_EQ(how_to_get("data/ogbn-papers100M"),
            "fetch it and prepare it (56.2 GiB to download, as much again unpacked, 43 GB as a store and 26 GB more "
            "while it is made): scripts/fetch_ogb.sh ogbn-papers100M && salient-prepare ogb --raw "
            "data/ogb/papers100M-bin --name ogbn-papers100M --out data/ogbn-papers100M");
  EXPECT_EQ(how_to_get("data/mine"), "make it with salient-prepare (see salient-prepare --help)");
}

TEST(MissingDataset, OnlyAMissingSetIsAdvisedOn) {
  EXPECT_EQ(open_or_advise("data/mine", [] { return 7; }), 7);
  const auto missing = [] { fail(ErrorKind::kNoInput, "data/mine is missing", Topic::kMissingDataset); };
  EXPECT_COMPLAINT(open_or_advise("data/mine", missing), 66, "data/mine is missing; make it with salient-prepare");
  const auto damaged = [] { fail(ErrorKind::kBadData, "data/mine: is damaged"); };
  EXPECT_EQ(test::complaint_of([&] { open_or_advise("data/mine", damaged); }).text, "data/mine: is damaged");
}

}  // namespace
}  // namespace salient
