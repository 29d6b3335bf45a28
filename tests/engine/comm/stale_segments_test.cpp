// tests/engine/comm/stale_segments_test.cpp - which segments are named: those of killed jobs of this user and host.
#include "engine/comm/stale_segments.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "tests/support/scratch.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

class StaleSegmentsOf : public testing::Test {
 protected:
  StaleSegmentsOf() {
    fs::create_directories(root_ / "dev/shm");
    fs::create_directories(root_ / "proc/17");
    fs::create_directories(root_ / "proc/self");
    test::write_bytes(root_ / "proc/17/maps", "7f00-7f01 r--p 00000000 00:01 5 /usr/lib/libc.so\n");
  }
  void add(const std::string& name, bool is_old = true) {
    const fs::path path = root_ / "dev/shm" / name;
    test::write_bytes(path, std::string(1000, 'x'));
    if (is_old) fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(1));
  }

  const test::Scratch scratch_;
  const fs::path root_ = scratch_ / "root";
  const std::string mine_ = "node7." + std::to_string(getuid()) + ".";
};

TEST_F(StaleSegmentsOf, AKilledJobAreNamedTogether) {
  add("vader_segment." + mine_ + "2bbc0001.0");
  add("vader_segment." + mine_ + "2bbc0001.1");
  add("sm_segment." + mine_ + "77.0");
  const auto found = stale_segments("node7.example.org", root_);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].pattern, (root_ / "dev/shm" / ("sm_segment." + mine_ + "77.*")).string());
  EXPECT_EQ(found[1].pattern, (root_ / "dev/shm" / ("vader_segment." + mine_ + "2bbc0001.*")).string());
  EXPECT_EQ(found[1].count, 2);
  EXPECT_EQ(found[1].bytes, 2000);
}

TEST_F(StaleSegmentsOf, OthersAndOfRunningJobsAreNot) {
  add("vader_segment.node8." + std::to_string(getuid()) + ".1.0");
  add("vader_segment.node7." + std::to_string(getuid() + 1) + ".1.0");
  add("salient_segment." + mine_ + "1.0");
  add("vader_segment." + mine_ + "2.0");
  add("vader_segment." + mine_ + "2.1", /*is_old=*/false);  // is starting
  add("vader_segment." + mine_ + "3.0");
  test::write_bytes(root_ / "proc/17/maps",
                    "7f00-7f01 rw-s 00000000 00:01 5 /dev/shm/vader_segment." + mine_ + "3.0\n");
  EXPECT_TRUE(stale_segments("node7", root_).empty());
}

TEST_F(StaleSegmentsOf, NoneAreNamedWhereProcessesCannotBeSeen) {
  add("vader_segment." + mine_ + "1.0");
  fs::remove_all(root_ / "proc");
  EXPECT_TRUE(stale_segments("node7", root_).empty());
}

}  // namespace
}  // namespace salient
