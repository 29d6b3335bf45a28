// tests/engine/device/planned_data_mpi_test.cpp - rows are sharded on all ranks or on none, whatever memory each has.
#include "engine/device/planned_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/console/log.h"
#include "engine/comm/mpi_communicator.h"
#include "tests/support/datasets.h"
#include "tests/support/ranks.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

class PlanOnRanks : public ::testing::Test {
 protected:
  DataPlan plan(std::int64_t device_bytes, std::optional<Residency> features = {}, const std::string& why_not = "") {
    testing::internal::CaptureStderr();
    DataPlan found = plan_on_all_ranks(
        *comm_, {.features = features, .graph = GraphResidency::kHost}, dataset_, [] { return RunNeeds(); },
        {.host_bytes = kPlenty, .device_bytes = device_bytes}, why_not);
    log_ = testing::internal::GetCapturedStderr();
    return found;
  }
  bool all_have(const DataPlan& plan, Residency features) {
    return on_all_ranks(*comm_, plan.residency.features == features);
  }
  /// Whether rank 0 alone said why features are not sharded, in one line.
  bool is_said(const std::string& why) {
    const std::string line = "features are not sharded over the GPUs: " + why + "\n";
    const std::size_t at = log_.find(line);
    const bool is_there = at != std::string::npos && log_.size() == at + line.size();
    return on_all_ranks(*comm_, comm_->rank() == 0 ? is_there : log_.empty());
  }

  const Dataset dataset_ = test::generated_dataset(20'000, 4, 400, FeatureType::kF32);
  const std::int64_t all_rows_ = static_cast<std::int64_t>(dataset_.feature_bytes());
  const std::unique_ptr<Communicator> comm_ = make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120);
  const bool has_others_ = comm_->size() > 1;
  std::string log_;
};

TEST_F(PlanOnRanks, ShardsWhatFitsTheGpusTogether) {
  EXPECT_TRUE(all_have(plan(all_rows_), Residency::kDevice));
  EXPECT_TRUE(all_have(plan(all_rows_ - 1), has_others_ ? Residency::kSharded : Residency::kCached));
  EXPECT_TRUE(on_all_ranks(*comm_, log_.empty())) << log_;
}

TEST_F(PlanOnRanks, TakesWhatFitsWithoutShardsWhereGpusCannotReadEachOther) {
  EXPECT_TRUE(all_have(plan(all_rows_ - 1, {}, "no NVLink"), Residency::kCached));
  EXPECT_TRUE(!has_others_ || is_said("no NVLink")) << log_;
  EXPECT_TRUE(all_have(plan(all_rows_, {}, "no NVLink"), Residency::kDevice));
  EXPECT_TRUE(on_all_ranks(*comm_, log_.empty())) << "shards were not asked for: " << log_;
}

TEST_F(PlanOnRanks, NoRankShardsWhereOneNeedsNot) {
  const bool is_last = comm_->rank() == comm_->size() - 1;
  const DataPlan found = plan(is_last ? all_rows_ : all_rows_ - 1);
  EXPECT_TRUE(on_all_ranks(*comm_, found.residency.features == (is_last ? Residency::kDevice : Residency::kCached)));
  EXPECT_TRUE(!has_others_ || is_said("the ranks' plans differ")) << log_;
}

TEST_F(PlanOnRanks, AllShardWhereItIsAskedFor) {
  EXPECT_TRUE(all_have(plan(comm_->rank() == 0 ? kPlenty : 0, Residency::kSharded), Residency::kSharded));
  EXPECT_TRUE(on_all_ranks(*comm_, log_.empty())) << log_;
}

/// Parts of very different sizes: whether a rank's own part fits is what it has to know.
TEST(PlanOfParts, CountsTheRowsOfARanksOwnPart) {
  const std::unique_ptr<Communicator> comm = make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120);
  const test::Scratch scratch;
  Dataset dataset = test::generated_dataset(20'000, 4, 400, FeatureType::kF32);
  dataset.directory = scratch.path();
  const auto num_ranks = static_cast<NodeId>(comm->size());
  std::vector<std::uint16_t> owner(dataset.num_nodes());  // 15,000 nodes of rank 0, then of all in turn
  for (NodeId v = 15'000; v < owner.size(); ++v) owner[v] = static_cast<std::uint16_t>(v % num_ranks);
  write_parts(dataset, owner, comm->size(), "hand");
  const ComputeDevice cpu = ComputeDevice::choose(DeviceKind::kCpu, 0, 1);
  const auto bytes_of = [&](std::int64_t cache_bytes) {
    return plan_data({*comm, launch_of_test(), cpu}, {.features = Residency::kPartitioned, .cache_bytes = cache_bytes},
                     dataset, [] { return RunNeeds(); })
        .host_bytes;
  };
  const std::int64_t row_bytes = 1600, all = bytes_of(20'000 * row_bytes), one_copy = bytes_of(row_bytes);
  const auto others = static_cast<std::int64_t>(std::ranges::count_if(owner, [&](int r) { return r != comm->rank(); }));
  const std::int64_t copies = std::min<std::int64_t>(others, 20'000 - (20'000 + comm->size() - 1) / comm->size());
  EXPECT_TRUE(on_all_ranks(*comm, all - one_copy == (copies - (comm->size() > 1 ? 1 : 0)) * row_bytes))
      << all << " " << one_copy << " " << copies;
}

}  // namespace
}  // namespace salient
