// tests/engine/infer/exact_plan_test.cpp - where activations are kept, by the memory that there is.
#include "engine/infer/exact_plan.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/inference.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

class ExactPlanTest : public ::testing::Test {
 protected:
  ExactPlan plan() const {
    return plan_exact_inference({*model_, device_, *comm_}, dataset_, test::all_nodes(dataset_), options_);
  }
  static std::string place_of(const ExactPlan& plan) { return to_text(plan.storage) + ", " + name_of(plan.type); }

  std::string place_or_none() const {
    try {
      return place_of(plan());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kHostMemory);
      return "none";
    }
  }

  const Dataset dataset_ = test::generated_dataset(400, 6, 7);
  const std::shared_ptr<Model> model_ = test::model_with_history("sage", dataset_);
  const ComputeDevice device_ = ComputeDevice::choose(DeviceKind::kCpu, 0, 1);
  const std::unique_ptr<Communicator> comm_ = make_self_communicator();
  ExactOptions options_{};
};

TEST_F(ExactPlanTest, TakesTheFirstPlaceThatHasRoom) {
  EXPECT_EQ(place_of(plan()), "a mapped scratch file, f16");
  options_.host_budget = std::int64_t{1} << 40;
  EXPECT_EQ(place_of(plan()), "host memory, f32");
  EXPECT_EQ(plan().activation_bytes, 2 * 400 * 16 * 4) << "two layers of the three live at a time";
  options_.type = ActivationDtype::kF16;
  EXPECT_EQ(plan().activation_bytes, 2 * 400 * 16 * 2);
  EXPECT_NE(to_text(plan()).find("host memory, f16"), std::string::npos);
  options_ = {.storage = ActivationStorage::kDevice};
  EXPECT_COMPLAINT(plan(), ErrorKind::kUsage, "this run is on the CPU");
}

TEST_F(ExactPlanTest, TakesF16WhereF32HasNoRoom) {
  options_.slots = 2;
  const auto places_by = [&](std::int64_t& bytes) {
    std::vector<std::string> found;
    for (bytes = 0; bytes < 1 << 20; bytes += 1000)
      if (const std::string place = place_or_none(); found.empty() || found.back() != place) found.push_back(place);
    return found;
  };
  EXPECT_EQ(places_by(options_.host_budget),
            (std::vector<std::string>{"a mapped scratch file, f16", "host memory, f16", "host memory, f32"}));
  options_.host_budget = std::int64_t{1} << 40;
  EXPECT_EQ(places_by(options_.free_host_bytes),
            (std::vector<std::string>{"none", "a mapped scratch file, f16", "host memory, f16", "host memory, f32"}))
      << "a budget beyond what is free";
  options_.free_host_bytes = ExactOptions::kUnlimited;
  options_.host_budget = 0;
  options_.type = ActivationDtype::kF32;
  EXPECT_EQ(place_of(plan()), "a mapped scratch file, f32");
  options_.type.reset();
  options_.storage = ActivationStorage::kFile;
  options_.host_budget = std::int64_t{1} << 40;
  EXPECT_EQ(place_of(plan()), "a mapped scratch file, f32") << "the page cache can hold it";
}

TEST_F(ExactPlanTest, HasFewerBlocksInFlightBeforeItRefusesToStart) {
  options_ = {.storage = ActivationStorage::kFile, .slots = 40};
  const std::int64_t slab = plan().slab_bytes;
  EXPECT_EQ(plan().slots, 40);
  options_.free_host_bytes = slab / 2;
  EXPECT_LT(plan().slots, 20);
  EXPECT_GE(plan().slots, 2);
  EXPECT_LT(plan().slab_bytes, slab / 2);
  options_.free_host_bytes = slab / 40;
  EXPECT_COMPLAINT(plan(), ErrorKind::kHostMemory, "of host memory");
  options_ = {.storage = ActivationStorage::kMemory, .free_host_bytes = 1000};
  EXPECT_COMPLAINT(plan(), ErrorKind::kHostMemory, "may be used");
}

}  // namespace
}  // namespace salient
