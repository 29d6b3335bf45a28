// tests/models/resident/seed_targets_gpu_test.cpp - with weights of classes, and with values, the kernel of the last
// layer computes what products and the kernel of the loss do, and steps have the gradients of autograd.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "models/resident/sage_step.h"
#include "tests/models/resident/sage_problem.h"

namespace salient {
namespace {

using test::distance;
using test::SageCase;

constexpr auto kMaxSeeds = static_cast<std::uint32_t>(test::kSageMaxSeeds);
const StepHeader kHeaders[] = {{7, 2, 0, 11, 0, kMaxSeeds, 1.0F / kMaxSeeds},
                               {7, 2, 3, 14, 100, 17, 0.25F},
                               {7, 2, 5, 16, 1, 1, 1.0F},
                               {7, 2, 8, 17, 15, 0, 1.0F},
                               {9, 4, 6, 1000, 2000, kMaxSeeds, 1.0F}};

/// A step's data, with targets of one kind.
class Problem : public test::SageProblem {
 public:
  Problem(const SageCase& c, SeedLossKind kind, RegressionLoss regression)
      : SageProblem(c), kind_(kind), regression_(regression), smoothing_(c.label_smoothing) {
    at::manual_seed(8);
    class_weights_ = at::rand({c.num_classes}) * 3;
    values_ = at::randn({test::kSageNodes, c.num_classes}) * 2;
    values_.masked_fill_(at::rand(values_.sizes()).lt(0.3), NAN);
    weights_and_sum_ = at::cat({class_weights_, class_weights_.sum().view({1})}).to(at::kCUDA);
    classes_on_device_ = labels().to(at::kCUDA);
    values_on_device_ = values_.to(at::kCUDA);
    sums_ = at::full({20, 2}, NAN, at::TensorOptions(at::kCUDA).dtype(at::kDouble));
    cuda_check(cudaDeviceSynchronize());
  }

  SageStepShape step_shape() const { return {shape(), smoothing_}; }
  SageStepData step_data() const {
    SeedTargets targets;
    if (kind_ == SeedLossKind::kValues)
      targets = {.values = values_on_device_.const_data_ptr<float>(), .regression = regression_};
    else
      targets.classes = classes_on_device_.const_data_ptr<std::int32_t>();
    if (kind_ == SeedLossKind::kWeightedClasses) targets.class_weights = weights_and_sum_.const_data_ptr<float>();
    return {data(), targets, weights(), sums_.data_ptr<double>()};
  }
  at::Tensor sums(const StepHeader& h) const { return sums_.cpu()[h.batch]; }

  /// Summed over the seeds of a batch, in f64.
  at::Tensor loss_of(const StepHeader& h, const at::Tensor& logits) const {
    if (kind_ == SeedLossKind::kValues) {
      const at::Tensor known = values_.narrow(0, h.first_seed, h.num_seeds).to(at::kDouble);
      const at::Tensor d = at::where(known.isnan(), at::zeros_like(known), logits - known), size = d.abs();
      if (regression_ == RegressionLoss::kMse) return d.square().sum();
      if (regression_ == RegressionLoss::kMae) return size.sum();
      return at::where(size.le(1), d.square() / 2, size - 0.5).sum();
    }
    const at::Tensor y = labels().narrow(0, h.first_seed, h.num_seeds).to(at::kLong);
    return at::cross_entropy_loss(logits, y, class_weights_.to(at::kDouble), at::Reduction::Sum, -1, smoothing_);
  }

 private:
  const SeedLossKind kind_;
  const RegressionLoss regression_;
  const double smoothing_;
  at::Tensor class_weights_, values_, weights_and_sum_, classes_on_device_, values_on_device_, sums_;
};

struct TargetCase {
  const char* name;
  SeedLossKind kind;
  RegressionLoss regression = RegressionLoss::kMse;
  double smoothing = 0;
};

class SeedTargetsOfSteps : public testing::TestWithParam<TargetCase> {
 protected:
  SageCase sage(std::vector<int> fanouts, int hidden, int outputs, ActivationType type) const {
    SageCase c{"targets", std::move(fanouts), 100, hidden, outputs, FeatureType::kF16, type, false, 0.3};
    c.label_smoothing = GetParam().smoothing;
    return c;
  }
};

TEST_P(SeedTargetsOfSteps, HaveTheGradientsOfAutograd) {
  const TargetCase& t = GetParam();
  const SageCase c = sage({6, 5}, 64, 5, ActivationType::kF32);
  Problem problem(c, t.kind, t.regression);
  SageStep step(problem.step_shape(), problem.step_data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  for (const StepHeader& header : kHeaders) {
    if (header.num_seeds == 0) continue;
    step.run(header, {}, stream.get());
    stream.wait();
    const std::vector<at::Tensor> w = problem.reference_weights();
    const at::Tensor loss = problem.loss_of(header, problem.reference_logits(header, w));
    (loss * static_cast<double>(header.gradient_scale)).backward();
    EXPECT_NEAR(problem.sums(header)[0].item<double>(), loss.item<double>(), 2e-5 * std::max(1.0, loss.item<double>()));
    for (std::size_t i = 0; i < w.size(); ++i)
      EXPECT_LT(distance(problem.gradient(i), w[i].grad()), 2e-5) << header.batch << " weight " << i;
  }
}

TEST_P(SeedTargetsOfSteps, HaveTheSameGradientsFromTheKernelOfTheLastLayer) {
  const TargetCase& t = GetParam();
  const SageCase fused_case = sage({15, 10, 5}, 256, 12, ActivationType::kBf16);
  SageCase other_case = fused_case;
  other_case.may_fuse = false;
  Problem fused_problem(fused_case, t.kind, t.regression), other_problem(other_case, t.kind, t.regression);
  SageStep fused(fused_problem.step_shape(), fused_problem.step_data());
  SageStep other(other_problem.step_shape(), other_problem.step_data());
  const CudaStream stream;
  fused.start_epoch(fused_problem.seeds());
  other.start_epoch(other_problem.seeds());
  for (const StepHeader& header : kHeaders) {
    fused.run(header, {}, stream.get());
    other.run(header, {}, stream.get());
    stream.wait();
    EXPECT_TRUE(at::allclose(fused_problem.sums(header), other_problem.sums(header), 1e-3, 1e-3)) << header.batch;
    for (std::size_t i = 0; i < 2 * fused_case.fanouts.size(); ++i)
      EXPECT_LT(distance(fused_problem.gradient(i), other_problem.gradient(i).cpu().to(at::kDouble)), 0.01)
          << header.batch << " weight " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, SeedTargetsOfSteps,
                         testing::Values(TargetCase{"weighted", SeedLossKind::kWeightedClasses},
                                         TargetCase{"weighted_smoothed", SeedLossKind::kWeightedClasses,
                                                    RegressionLoss::kMse, 0.1},
                                         TargetCase{"mse", SeedLossKind::kValues, RegressionLoss::kMse},
                                         TargetCase{"mae", SeedLossKind::kValues, RegressionLoss::kMae},
                                         TargetCase{"huber", SeedLossKind::kValues, RegressionLoss::kHuber}),
                         [](const testing::TestParamInfo<TargetCase>& each) { return each.param.name; });

}  // namespace
}  // namespace salient
