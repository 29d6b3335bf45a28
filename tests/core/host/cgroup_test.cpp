// tests/core/host/cgroup_test.cpp - the limits of control groups, on hosts made of a few files.
#include "core/host/cgroup.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

#include "core/host/machine.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr std::int64_t kNoBytes = std::numeric_limits<std::int64_t>::max();  // no limit
constexpr double kNoCores = std::numeric_limits<double>::max();

std::string gib(std::int64_t n) { return std::to_string(n * kGiB) + "\n"; }

/// A host of 256 GiB, 200 of them free.
class Cgroup : public ::testing::Test {
 protected:
  Cgroup() {
    write("proc/meminfo", "MemTotal:       " + std::to_string(256 << 20) +
                              " kB\nMemFree: 5 kB\nMemAvailable:   " + std::to_string(200 << 20) + " kB\n");
  }
  void write(const std::string& path, const std::string& text) { test::write_bytes(root() / path, text); }
  /// Files of one group, as `folder`/name.
  void write(const std::string& folder, std::initializer_list<std::pair<const char*, std::string>> files) {
    for (const auto& [name, text] : files) write(folder + "/" + name, text);
  }
  const std::filesystem::path& root() const { return scratch_.path(); }
  CgroupLimits limits() const { return cgroup_limits(root()); }

  void expect_none() const {
    EXPECT_EQ(limits().memory_bytes, kNoBytes);
    EXPECT_EQ(limits().free_memory_bytes, kNoBytes);
    EXPECT_EQ(limits().cores, kNoCores);
    EXPECT_EQ(total_host_bytes(root()), 256 * kGiB);
    EXPECT_EQ(available_host_bytes(root()), 200 * kGiB);
    EXPECT_EQ(num_usable_cores(root()), num_usable_cores(root() / "nothing"));
  }

 private:
  const test::Scratch scratch_;
};

TEST_F(Cgroup, FilesInThePageCacheCountAsFree) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup",
        {{"memory.max", gib(64)},
         {"memory.current", gib(63)},  // 8 of them the program's, 55 a store's
         {"memory.stat", "anon 1\nfile 1\ninactive_anon 7\nactive_file " + gib(15) + "inactive_file " + gib(40)}});
  EXPECT_EQ(limits().memory_bytes, 64 * kGiB);
  EXPECT_EQ(limits().free_memory_bytes, 56 * kGiB);
  EXPECT_EQ(total_host_bytes(root()), 64 * kGiB);
  EXPECT_EQ(available_host_bytes(root()), 56 * kGiB);
}

TEST_F(Cgroup, FreeIsNoMoreThanTheLimitAndNoLessThanNothing) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup",
        {{"memory.max", gib(4)}, {"memory.current", gib(1)}, {"memory.stat", "active_file " + gib(2)}});
  EXPECT_EQ(limits().free_memory_bytes, 4 * kGiB);
  write("sys/fs/cgroup", {{"memory.current", gib(7)}});
  EXPECT_EQ(limits().free_memory_bytes, 0);
}

TEST_F(Cgroup, TheLowestLimitOfAJobAndAllAboveItHolds) {
  write("proc/self/cgroup", "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n");
  const std::string scope = "sys/fs/cgroup/system.slice/slurmstepd.scope";
  write(scope + "/job_7", {{"memory.max", gib(32)}, {"memory.current", gib(4)}, {"cpu.max", "max 100000\n"}});
  write(scope + "/job_7/step_0", {{"memory.max", gib(48)}, {"memory.current", gib(3)}, {"cpu.max", "800000 100000\n"}});
  write(scope + "/job_7/step_0/user/task_0", {{"memory.max", "max\n"}, {"memory.current", gib(3)}});
  EXPECT_EQ(limits().memory_bytes, 32 * kGiB);
  EXPECT_EQ(limits().free_memory_bytes, 28 * kGiB);
  EXPECT_EQ(limits().cores, 8.0);

  write("sys/fs/cgroup/system.slice",
        {{"memory.max", gib(100)}, {"memory.current", gib(90)}, {"cpu.max", "50000 100000"}});
  EXPECT_EQ(limits().memory_bytes, 32 * kGiB);
  EXPECT_EQ(limits().free_memory_bytes, 10 * kGiB) << "other jobs of the slice have taken the rest";
  EXPECT_EQ(limits().cores, 0.5);
  EXPECT_EQ(num_usable_cores(root()), 1);

  write("proc/self/cgroup", "0::/system.slice\n");
  EXPECT_EQ(limits().memory_bytes, 100 * kGiB) << "the job is not above us now";
}

TEST_F(Cgroup, VersionOneHasAHierarchyForEachLimit) {
  write("proc/self/cgroup",
        "9:name=systemd:/x\n4:memory:/slurm/job_7\n3:cpuset:/slurm\n2:cpu,cpuacct:/slurm/job_7\n0::/x\n");
  const std::string unlimited = "9223372036854771712\n";
  write("sys/fs/cgroup/memory", {{"memory.limit_in_bytes", unlimited}, {"memory.usage_in_bytes", gib(150)}});
  write("sys/fs/cgroup/memory/slurm", {{"memory.limit_in_bytes", gib(16)},
                                       {"memory.usage_in_bytes", gib(12)},
                                       {"memory.stat", "active_file 1\ninactive_file 1\ntotal_inactive_file " + gib(7) +
                                                           "total_active_file " + gib(1)}});
  write("sys/fs/cgroup/memory/slurm/job_7", {{"memory.limit_in_bytes", unlimited}, {"memory.usage_in_bytes", gib(1)}});
  write("sys/fs/cgroup/cpu", {{"cpu.cfs_quota_us", "-1\n"}, {"cpu.cfs_period_us", "100000\n"}});
  write("sys/fs/cgroup/cpu/slurm/job_7", {{"cpu.cfs_quota_us", "150000\n"}, {"cpu.cfs_period_us", "100000\n"}});
  EXPECT_EQ(limits().memory_bytes, 16 * kGiB);
  EXPECT_EQ(limits().free_memory_bytes, 12 * kGiB);
  EXPECT_EQ(limits().cores, 1.5);
}

TEST_F(Cgroup, AContainerWithItsPathOnTheHostIsSeen) {
  write("proc/self/cgroup", "4:memory:/docker/0123\n0::/docker/0123\n");  // its own group is mounted, as the topmost
  write("sys/fs/cgroup/memory", {{"memory.limit_in_bytes", gib(16)}, {"memory.usage_in_bytes", gib(2)}});
  EXPECT_EQ(available_host_bytes(root()), 14 * kGiB);
}

TEST_F(Cgroup, AHostWithoutGroupsHasNoLimit) { expect_none(); }

TEST_F(Cgroup, GroupsWithoutLimitsHaveNone) {
  write("proc/self/cgroup", "0::/user.slice/a:b\n");
  write("sys/fs/cgroup/user.slice/a:b",
        {{"memory.max", "max\n"}, {"memory.current", gib(250)}, {"cpu.max", "max 100000\n"}});
  expect_none();
}

TEST_F(Cgroup, WhatIsNotANumberIsNoLimit) {
  for (const char* garbage : {"", "\n", "lots", "-5", "12x", "99999999999999999999", "0x10 100000"}) {
    write("proc/self/cgroup", "0::/job\n4:memory:/job\n2:cpu:/job\n");
    write("sys/fs/cgroup/job", {{"memory.max", garbage}, {"memory.current", "1"}, {"cpu.max", garbage}});
    write("sys/fs/cgroup/memory/job", {{"memory.limit_in_bytes", garbage}});
    write("sys/fs/cgroup/cpu/job", {{"cpu.cfs_quota_us", garbage}, {"cpu.cfs_period_us", "100000"}});
    expect_none();
  }
  for (const char* garbage : {"100000", "100000 0", "100000 -1", "100000 x", "0 100000"}) {
    write("sys/fs/cgroup/job", {{"cpu.max", garbage}});
    expect_none();
  }
}

TEST_F(Cgroup, ALimitWithoutOtherFilesHolds) {
  write("proc/self/cgroup", "nonsense\n\n0::/job:1\n");
  write("sys/fs/cgroup/job:1", {{"memory.max", gib(8)}, {"memory.current", "?"}, {"memory.stat", "active_file"}});
  EXPECT_EQ(limits().memory_bytes, 8 * kGiB);
  EXPECT_EQ(limits().free_memory_bytes, 8 * kGiB);
}

}  // namespace
}  // namespace salient
