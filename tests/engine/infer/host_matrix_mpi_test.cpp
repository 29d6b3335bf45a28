// tests/engine/infer/host_matrix_mpi_test.cpp - ranks of a host share a matrix, ranks of other hosts do not, whatever
// the hosts' names.
#include "engine/infer/host_matrix.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "engine/comm/mpi_communicator.h"
#include "tests/support/ranks.h"

namespace salient {
namespace {

TEST(HostMatrixOnRanks, IsSharedByTheRanksOfAHostAndByNoOther) {
  const auto comm = make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120);
  const int size = comm->size(), rank = comm->rank();
  for (const bool is_file : {false, true})
    for (const int ranks_on_host : {size, 2, 1}) {
      const Launch launch = on_hosts_of(ranks_on_host);
      HostMatrixSpec spec{.rows = static_cast<std::size_t>(size), .row_bytes = 2400000};  // above 2 MiB
      if (is_file) spec.scratch = std::filesystem::temp_directory_path();
      const HostMatrix matrix(spec, *comm, launch);
      matrix.row(static_cast<std::size_t>(rank))[2399999] = static_cast<std::byte>(rank + 1);
      comm->barrier();
      bool is_right = true;
      for (int other = 0; other < size; ++other) {
        const bool is_neighbour = other / ranks_on_host == rank / ranks_on_host;
        is_right &= matrix.row(static_cast<std::size_t>(other))[2399999] ==
                    static_cast<std::byte>(is_neighbour ? other + 1 : 0);
      }
      EXPECT_TRUE(on_all_ranks(*comm, is_right)) << ranks_on_host << " ranks on a host, file: " << is_file;
    }
}

}  // namespace
}  // namespace salient
