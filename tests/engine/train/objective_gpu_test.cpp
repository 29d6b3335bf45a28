// tests/engine/train/objective_gpu_test.cpp - who watches a GPU learns its losses a moment later, and nobody waits.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "engine/device/compute_device.h"
#include "engine/train/objective.h"

namespace salient {
namespace {

TEST(Objective, AGlanceAtAGpuHasWhatTheOneBeforeAskedFor) {
  const ComputeDevice device = ComputeDevice::choose(DeviceKind::kCuda, 0, 1);
  Objective objective({}, 4, device.torch_device());
  const auto loss = [&](double value) { return at::scalar_tensor(value).to(device.torch_device()); };
  for (int epoch = 0; epoch < 2; ++epoch) {
    objective.start_epoch();
    (void)objective.record(1, loss(3));
    {
      const NoHostWait none(device);
      EXPECT_EQ(objective.glance(1, 2).steps, 0u) << "nothing has been asked for";
    }
    (void)objective.record(2, loss(0.5));
    device.wait();
    EXPECT_EQ(objective.glance(1, 3).loss, 3) << "of the first step, and asks for both";
    device.wait();
    const Objective::Told told = objective.glance(1, 3);
    EXPECT_EQ(told.steps, 2u);
    EXPECT_EQ(told.loss, 3.5);
  }
}

}  // namespace
}  // namespace salient
