// tests/models/resident/pair_loss_gpu_test.cpp - losses of links and gradients of their ends' rows are autograd's.
#include "models/resident/pair_loss.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/device_copy.h"

namespace salient {
namespace {

/// As link_loss_sum(), of scores [B, 1 + K].
at::Tensor loss_sum(const at::Tensor& scores, LinkLoss loss) {
  const at::Tensor own = scores.narrow(1, 0, 1), others = scores.narrow(1, 1, scores.size(1) - 1);
  switch (loss) {
    case LinkLoss::kBce: return at::softplus(-own).sum() + at::softplus(others).sum();
    case LinkLoss::kSoftmax: return (at::logsumexp(scores, 1) - own.squeeze(1)).sum();
    case LinkLoss::kMargin: return at::relu(1 - own + others).sum();
    case LinkLoss::kBpr: return at::softplus(others - own).sum();
  }
  return {};
}

/// @param rows  [B, 2 + K, C]
at::Tensor scores_of(const at::Tensor& rows, CorruptedEnd corrupt) {
  const at::Tensor source = rows.select(1, 0), destination = rows.select(1, 1);
  std::vector<at::Tensor> scores{(source * destination).sum(1)};
  for (std::int64_t j = 0; j + 2 < rows.size(1); ++j) {
    const bool is_source = corrupt == CorruptedEnd::kBoth && j % 2 == 1;
    scores.push_back((rows.select(1, 2 + j) * (is_source ? destination : source)).sum(1));
  }
  return at::stack(scores, 1);
}

struct Case {
  std::int64_t num_links, max_links, negatives, columns;
  CorruptedEnd corrupt;
  double scale;  // of rows: scores may be large
};

void expect_autograd(const Case& c, LinkLoss kind) {
  const std::int64_t stride = padded(c.columns), of_link = 2 + c.negatives, max_seeds = c.max_links * of_link;
  at::manual_seed(5);
  at::Tensor rows = (at::randn({c.num_links, of_link, c.columns}, at::kDouble) * c.scale).requires_grad_();
  const at::Tensor expected = loss_sum(scores_of(rows, c.corrupt), kind);
  constexpr float kScale = 0.125F;
  if (c.num_links > 0) (expected * kScale).backward();
  const auto options = at::TensorOptions(at::kCUDA).dtype(at::kFloat);
  const at::Tensor on_device = at::full({max_seeds, stride}, NAN, options);
  if (c.num_links > 0) {
    on_device.narrow(0, 0, c.num_links * of_link).zero_();
    on_device.narrow(0, 0, c.num_links * of_link)
        .narrow(1, 0, c.columns)
        .copy_(rows.detach().view({-1, c.columns}).to(at::kFloat));
  }
  const at::Tensor gradient = at::full_like(on_device, NAN), scratch = at::full({2 * max_seeds}, NAN, options);
  const at::Tensor sums = at::full({3, 2}, NAN, options.dtype(at::kDouble));
  const StepHeader header{
      .batch = 1, .num_seeds = static_cast<std::uint32_t>(c.num_links * of_link), .gradient_scale = kScale};
  const CudaStream stream;
  const test::OnDevice<StepHeader> header_on_device({header}, stream);
  const SeedLoss loss{.header = header_on_device.get(),
                      .nodes = nullptr,
                      .targets = {.pairs = {.are_scored = true,
                                            .negatives = static_cast<std::uint32_t>(c.negatives),
                                            .corrupt = c.corrupt,
                                            .loss = kind}},
                      .max_seeds = max_seeds,
                      .num_classes = c.columns,
                      .label_smoothing = 0,
                      .type = ActivationType::kF32,
                      .rows = scratch.data_ptr<float>(),
                      .sums = sums.data_ptr<double>()};
  cuda_check(cudaDeviceSynchronize());
  seed_loss(loss, on_device.const_data_ptr<float>(), gradient.data_ptr(), stream.get());
  sum_losses(loss, stream.get());
  cuda_check(cudaDeviceSynchronize());
  const double sum = expected.item<double>();
  EXPECT_NEAR(sums.cpu()[1][0].item<double>(), sum, 1e-5 * std::max(1.0, sum)) << name_of(kind);
  EXPECT_EQ(sums.cpu()[1][1].item<double>(), 0);
  at::Tensor wanted = at::zeros({max_seeds, stride}, at::kDouble);
  if (c.num_links > 0)
    wanted.narrow(0, 0, c.num_links * of_link).narrow(1, 0, c.columns).copy_(rows.grad().view({-1, c.columns}));
  EXPECT_TRUE(at::allclose(gradient.cpu().to(at::kDouble), wanted, 1e-4, 1e-5 * c.scale)) << name_of(kind);
}

TEST(PairLoss, HasTheGradientsOfAutograd) {
  for (const auto& [loss, name] : names_of(LinkLoss{}))
    for (const Case& c : {Case{10, 10, 1, 64, CorruptedEnd::kDestination, 0.3},
                          {7, 10, 4, 30, CorruptedEnd::kBoth, 1},
                          {0, 3, 2, 8, CorruptedEnd::kBoth, 1},
                          {3, 5, 70, 256, CorruptedEnd::kBoth, 0.2},
                          {100, 130, 1, 100, CorruptedEnd::kDestination, 3}})
      expect_autograd(c, loss);
}

}  // namespace
}  // namespace salient
