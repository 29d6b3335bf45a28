// tests/engine/infer/host_matrix_test.cpp - a matrix in memory or in a file, and what is said when there is no room.
#include "engine/infer/host_matrix.h"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "engine/comm/communicator.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

/// Whether this process has a mapping or an open file whose name has `part` in it.
bool is_in_use(const std::string& part) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(part) != std::string::npos) return true;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (std::filesystem::read_symlink(entry, error).string().find(part) != std::string::npos) return true;
  }
  return false;
}

class HostMatrixTest : public ::testing::Test {
 protected:
  const std::unique_ptr<Communicator> comm_ = make_self_communicator();
  const test::Scratch scratch_;
};

TEST_F(HostMatrixTest, HoldsWhatIsWrittenAndStartsWithZeros) {
  for (const bool is_file : {false, true}) {
    HostMatrixSpec spec{.rows = 1000, .row_bytes = 700 * sizeof(float)};  // above 2 MiB
    if (is_file) spec.scratch = scratch_.path();
    const HostMatrix matrix(spec, *comm_, {});
    EXPECT_EQ(matrix.row(999)[2799], std::byte{0});
    for (std::size_t row = 0; row < matrix.rows(); ++row)
      matrix.row(row)[row % matrix.row_bytes()] = static_cast<std::byte>(row);
    EXPECT_EQ(matrix.row(0) + 999 * 2800, matrix.row(999));
    EXPECT_EQ(matrix.row(201)[201], std::byte{201});
  }
}

TEST_F(HostMatrixTest, IsReadAsItWasWritten) {
  for (const bool is_file : {false, true}) {
    HostMatrixSpec spec{.rows = 3000, .row_bytes = 999};
    if (is_file) spec.scratch = scratch_.path();
    const HostMatrix matrix(spec, *comm_, {});
    matrix.row(2999)[998] = std::byte{7};
    EXPECT_FALSE(matrix.end_writing()) << "memory has room for it";
    matrix.will_read(0, 3000);
    matrix.will_read(3000, 0);
    EXPECT_EQ(matrix.row(2999)[998], std::byte{7});
  }
}

TEST_F(HostMatrixTest, LeavesNothingBehind) {
  {
    const HostMatrix in_memory({.rows = 10, .row_bytes = 10}, *comm_, {});
    EXPECT_TRUE(is_in_use("memfd:salient"));
    const HostMatrix in_file({.rows = 10, .row_bytes = 10, .scratch = scratch_.path()}, *comm_, {});
    EXPECT_TRUE(is_in_use(scratch_.path().string()));
    EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()))
        << "the file has no name, so that a killed rank leaves none";
  }
  EXPECT_FALSE(is_in_use("memfd:salient"));
  EXPECT_FALSE(is_in_use(scratch_.path().string()));
}

TEST_F(HostMatrixTest, MayBeEmpty) { EXPECT_EQ(HostMatrix({.rows = 0, .row_bytes = 5}, *comm_, {}).rows(), 0U); }

TEST_F(HostMatrixTest, SaysSoWhenThereIsNoRoom) {
  EXPECT_COMPLAINT(HostMatrix({.rows = 4, .row_bytes = 4, .scratch = "absent/folder"}, *comm_, {}), ErrorKind::kIo,
                   "absent/folder");
  EXPECT_COMPLAINT(HostMatrix({.rows = std::size_t{1} << 52, .row_bytes = 4}, *comm_, {}), ErrorKind::kHostMemory,
                   "in host memory");
}

TEST_F(HostMatrixTest, DoesNotTakeMemoryThatIsNotThereForAFileInMemory) {
  struct statfs system {};
  if (statfs("/dev/shm", &system) != 0 || system.f_type != TMPFS_MAGIC) GTEST_SKIP() << "no tmpfs";
  EXPECT_COMPLAINT(HostMatrix({.rows = std::size_t{1} << 52, .row_bytes = 4, .scratch = "/dev/shm"}, *comm_, {}),
                   ErrorKind::kHostMemory, "/dev/shm: is kept in memory");
}

}  // namespace
}  // namespace salient
