// tests/models/kernels/multilabel_bce_loss_gpu_test.cpp - the loss of several labels on the device is the host's.
#include <gtest/gtest.h>

#include <cmath>

#include "models/kernels/multilabel_bce_loss.h"
#include "tests/support/device_hop.h"
#include "tests/support/multilabel_case.h"

namespace salient {
namespace {

using test::OnDevice;
using test::poison;

TEST(MultilabelBceLossOnDevice, EqualsTheHostVersionWithTheSameBitsEachTime) {
  const CudaStream stream;
  for (const std::size_t count : {0u, 1u, 5u, 256u, 257u, 65'536u, 65'537u, 300'001u})
    for (const double smoothing : {0.0, 0.1}) {
      const test::MultilabelCase labels = test::MultilabelCase::make(count);
      const BceTarget target = BceTarget::make(smoothing);
      std::vector<float> expected_grad(count, NAN);
      const BceSums expected = multilabel_bce_loss(target, labels.logits, labels.flags.data(), expected_grad.data());
      const OnDevice<float> logits(labels.logits, stream), grad(poison(static_cast<std::int64_t>(count)), stream),
          loss({NAN}, stream);
      const OnDevice<std::int8_t> flags(labels.flags, stream);
      const OnDevice<BceSums> partial(std::vector<BceSums>(kMultilabelBceBlocks), stream), sums({{NAN, NAN}}, stream);
      double first_loss = 0;
      for (int round = 0; round < 3; ++round) {
        multilabel_bce_loss(target, std::span<const float>(logits.get(), count), flags.get(),
                            {grad.get(), partial.get(), sums.get(), loss.get()}, stream.get());
        const BceSums found = sums.read(stream)[0];
        EXPECT_NEAR(found.loss, expected.loss, 1e-5 * expected.loss) << count;
        EXPECT_EQ(found.correct, expected.correct);
        EXPECT_EQ(loss.read(stream)[0], static_cast<float>(found.loss));
        const std::vector<float> actual = grad.read(stream);
        for (std::size_t i = 0; i < count; ++i) ASSERT_NEAR(actual[i], expected_grad[i], 1e-6);
        if (round == 0) first_loss = found.loss;
        EXPECT_EQ(found.loss, first_loss);
      }
    }
}

}  // namespace
}  // namespace salient
