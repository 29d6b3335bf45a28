// tests/engine/infer/exact_plan_test.cpp - where activations are kept, by the memory that there is.
#include "engine/infer/exact_plan.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/inference.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

TEST(ExactPlan, TakesTheFastestPlaceThatHasRoom) {
  const Dataset dataset = test::generated_dataset(400, 6, 7);
  const auto model = test::model_with_history("sage", dataset);
  const ComputeDevice device = ComputeDevice::choose(DeviceKind::kCpu, 0, 1);
  const auto comm = make_self_communicator();
  ExactOptions options;
  const auto plan = [&] {
    return plan_exact_inference({*model, device, *comm}, dataset, test::all_nodes(dataset), options);
  };
  EXPECT_EQ(plan().storage, ActivationStorage::kFile);
  options.host_budget = plan().activation_bytes + plan().slab_bytes;
  EXPECT_EQ(plan().storage, ActivationStorage::kMemory);
  EXPECT_EQ(plan().activation_bytes, 2 * 400 * 16 * 4) << "two layers of the three live at a time";
  EXPECT_NE(to_text(plan()).find("host memory"), std::string::npos);
  options.storage = ActivationStorage::kDevice;
  EXPECT_COMPLAINT(plan(), ErrorKind::kUsage, "this run is on the CPU");
}

}  // namespace
}  // namespace salient
