// tests/apps/doctor/host_checks_test.cpp - what is said of hosts that are made up.
#include "apps/doctor/host_checks.h"

#include <gtest/gtest.h>

#include <limits>

#include "apps/doctor/launch_checks.h"
#include "tests/support/scratch.h"

namespace salient::doctor {
namespace {

using test::Scratch;

TEST(HostChecks, AProcessorWithoutAvx2IsMissing) {
  const Scratch scratch;
  test::write_bytes(scratch / "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse2 fma f16c\n");
  const Finding finding = check_processor(scratch.path());
  EXPECT_EQ(finding.state, State::kMissing);
  EXPECT_NE(finding.found.find("without avx2"), std::string::npos);
  test::write_bytes(scratch / "proc/cpuinfo", "flags\t\t: fpu sse2 avx2 fma f16c\n");
  EXPECT_NE(check_processor(scratch.path()).state, State::kMissing);
}

TEST(HostChecks, HugePagesThatAreOffAreSlow) {
  const Scratch scratch;
  const std::string file = "sys/kernel/mm/transparent_hugepage/enabled";
  EXPECT_EQ(check_huge_pages(scratch.path()).state, State::kSlow);
  test::write_bytes(scratch / file, "always madvise [never]\n");
  EXPECT_EQ(check_huge_pages(scratch.path()).state, State::kSlow);
  for (const char* modes : {"[always] madvise never\n", "always [madvise] never\n"}) {
    test::write_bytes(scratch / file, modes);
    EXPECT_EQ(check_huge_pages(scratch.path()).state, State::kFine) << modes;
  }
}

TEST(HostChecks, TheLimitOfPinnedMemoryMattersToInfinibandAlone) {
  const Scratch scratch;
  EXPECT_EQ(check_pinned_limit(64 << 10, scratch.path()).state, State::kFine);
  std::filesystem::create_directories(scratch / "dev/infiniband");
  EXPECT_EQ(check_pinned_limit(64 << 10, scratch.path()).state, State::kSlow);
  EXPECT_EQ(check_pinned_limit(std::numeric_limits<std::uint64_t>::max(), scratch.path()).state, State::kFine);
}

TEST(HostChecks, WithoutSharedMemoryRanksAreSlowAndAFolderThatIsNotThereIsMissing) {
  const Scratch scratch;
  EXPECT_EQ(check_shared_memory(scratch.path()).state, State::kSlow);
  EXPECT_EQ(check_disk(scratch / "absent").state, State::kMissing);
  EXPECT_NE(check_disk(scratch.path()).state, State::kMissing);
}

TEST(LaunchChecks, NameWhatAGpuLacks) {
  const Scratch scratch;
  EXPECT_EQ(check_gpus({.is_cuda_build = true}, scratch.path())[0].state, State::kFine);
  const GpuFacts h100{.name = "H100", .compute_capability = 90}, old{.name = "V100", .compute_capability = 70};
  const GpuProbe good{.is_cuda_build = true, .runtime_version = 13000, .driver_version = 13000, .gpus = {h100}};
  for (const Finding& finding : check_gpus(good, scratch.path())) EXPECT_EQ(finding.state, State::kFine);
  test::write_bytes(scratch / "proc/driver/nvidia/version", "NVRM\n");
  GpuProbe hidden = good;
  hidden.gpus.clear();
  EXPECT_EQ(check_gpus(hidden, scratch.path())[0].state, State::kMissing);
  EXPECT_EQ(check_gpus({}, scratch.path())[0].state, State::kSlow);
  GpuProbe outdated = good;
  outdated.driver_version = 12040;
  EXPECT_EQ(check_gpus(outdated, scratch.path())[0].state, State::kMissing);
  GpuProbe small = good;
  small.gpus = {old};
  EXPECT_EQ(check_gpus(small, scratch.path())[0].state, State::kMissing);
}

TEST(LaunchChecks, SayWhereMpirunIsMissingAndWhatSlurmWants) {
  const auto nothing = [](const char*) -> const char* { return nullptr; };
  EXPECT_EQ(check_launch({}, nothing)[0].state, State::kSlow);
  const Findings ranks = check_launch({.size = 4, .num_hosts = 2, .has_mpi = true}, nothing);
  EXPECT_EQ(ranks[0].found, "4 ranks on 2 hosts");
  const auto in_slurm = [](const char* name) -> const char* {
    const std::string_view wanted = name;
    return wanted == "SLURM_NTASKS" || wanted == "SLURM_STEP_NUM_TASKS" ? "4"
           : wanted == "SLURM_PROCID"                                   ? "1"
                                                                        : nullptr;
  };
  if (!lone_rank_problem({}, in_slurm).empty()) {
    EXPECT_EQ(check_launch({}, in_slurm).back().state, State::kMissing);
  }
}

}  // namespace
}  // namespace salient::doctor
