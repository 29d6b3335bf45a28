// tests/engine/device/missing_rows_mpi_test.cpp - hosts with the rows of their part alone get the copies of others.
#include "engine/device/missing_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "engine/comm/mpi_communicator.h"
#include "store/part_rows_file.h"
#include "tests/support/datasets.h"
#include "tests/support/ranks.h"
#include "tests/support/recorded_ranks.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

/// The most bytes that one call sent or received.
std::size_t most_at_once(const std::string& calls) {
  std::istringstream lines(calls);
  std::size_t most = 0;
  for (std::string line, kind; std::getline(lines, line);) {
    std::istringstream words(line);
    words >> kind;
    std::size_t all_out = 0, all_in = 0;
    for (std::size_t out = 0, in = 0; words >> out >> in;) all_out += out, all_in += in;
    most = std::max({most, all_out, all_in});
  }
  return most;
}

TEST(MissingRows, ComeFromTheirOwnersAFewAtATime) {
  test::RecordedRanks comm(make_mpi_communicator(launch_of_test(), 20), make_mpi_communicator(launch_of_test(), 20));
  const auto num_ranks = static_cast<NodeId>(comm.size());
  const test::Scratch scratch;
  Dataset dataset = test::generated_dataset(4000, 4, 4096, FeatureType::kF32);  // 66 MB
  dataset.directory = scratch.path();
  std::vector<std::uint16_t> owner;
  std::vector<NodeId> copied;  // all rows of other ranks but those of nodes 0, 50, 100, ...
  for (NodeId v = 0; v < dataset.num_nodes(); ++v) {
    owner.push_back(static_cast<std::uint16_t>(v / 3 % num_ranks));
    if (owner.back() != comm.rank() && v % 50 != 0) copied.push_back(v);
  }
  write_parts(dataset, owner, comm.size(), "hand", write_part_rows(dataset, owner, comm.size()));
  const RowTable all = dataset.features;
  dataset.features.data = nullptr;
  PartRows part(dataset, open_parts(dataset), comm.rank(), copied);
  bool is_right = part.missing().size() == copied.size();
  fetch_missing_rows(part, comm);
  for (NodeId v = 0; v < dataset.num_nodes(); ++v) {
    const std::uint32_t row = part.held().index_of(v);
    if (row == NodeSet::kAbsent) continue;
    is_right = is_right &&
               std::memcmp(part.table().data + row * all.row_bytes, all.data + v * all.row_bytes, all.row_bytes) == 0;
  }
  EXPECT_TRUE(on_all_ranks(comm, is_right));
  const std::size_t most = most_at_once(comm.take_calls());
  EXPECT_TRUE(on_all_ranks(comm, most <= kMissingBytesAtOnce)) << most;
  EXPECT_TRUE(on_all_ranks(comm, comm.size() == 1 || most > kMissingBytesAtOnce / 4)) << most;
}

}  // namespace
}  // namespace salient
