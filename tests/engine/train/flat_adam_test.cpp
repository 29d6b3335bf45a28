// tests/engine/train/flat_adam_test.cpp - ten steps of the optimiser against Adam's formula in double precision.
#include "engine/train/flat_adam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace salient {
namespace {

/// Algorithm 1 of Kingma and Ba (ICLR 2015), with torch.optim.Adam's weight decay: a term of the gradient, which the
/// moments see, too (AdamW would take it from the parameter alone).
struct ReferenceAdam {
  double weight_decay = 0;
  std::vector<double> parameters{};
  std::vector<double> exp_avg = std::vector<double>(parameters.size()), exp_avg_sq = exp_avg;
  int num_steps = 0;

  void step(const std::vector<float>& gradients, double lr) {
    ++num_steps;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const double g = static_cast<double>(gradients[i]) + weight_decay * parameters[i];
      exp_avg[i] = 0.9 * exp_avg[i] + 0.1 * g;
      exp_avg_sq[i] = 0.999 * exp_avg_sq[i] + 0.001 * g * g;
      const double mean = exp_avg[i] / (1 - std::pow(0.9, num_steps));
      const double mean_sq = exp_avg_sq[i] / (1 - std::pow(0.999, num_steps));
      parameters[i] -= lr * mean / (std::sqrt(mean_sq) + 1e-8);
    }
  }
};

/// Other values in every step, of both signs and of sizes from 1e-9, where Adam's epsilon matters, to 1.
std::vector<float> made_up_gradients(std::size_t size, int step) {
  std::vector<float> gradients(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto x = static_cast<double>(i + 1);
    gradients[i] = static_cast<float>(std::sin(x * 0.7 + step * 1.3) * std::pow(10.0, -static_cast<double>(i % 10)));
  }
  return gradients;
}

std::vector<double> doubles_of(std::span<const float> values) { return {values.begin(), values.end()}; }

/// Of each of a model's tensors, in their order and one behind the other.
std::vector<float> values_of(const Model& model) {
  std::vector<float> values;
  for (const at::Tensor& tensor : model.parameters()) {
    const at::Tensor row = tensor.detach().contiguous();
    values.insert(values.end(), row.data_ptr<float>(), row.data_ptr<float>() + row.numel());
  }
  return values;
}

void expect_near(std::span<const float> found, const std::vector<double>& expected, double relative, double absolute) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(static_cast<double>(found[i]), expected[i], std::abs(expected[i]) * relative + absolute)
        << "value " << i;
}

class FlatAdamSteps : public testing::TestWithParam<double> {};  // of weight decay

TEST_P(FlatAdamSteps, FollowTheFormula) {
  const std::shared_ptr<Model> model =
      make_model({.kind = ModelKind::kSage, .in_dim = 5, .hidden_dim = 4, .num_classes = 3, .num_layers = 2});
  ASSERT_GE(model->parameters().size(), 4u);
  const std::vector<float> start = values_of(*model);
  ReferenceAdam reference{.weight_decay = GetParam(), .parameters = doubles_of(start)};
  FlatAdam adam(*model, {.lr = 0.01, .weight_decay = GetParam()});
  ASSERT_EQ(adam.parameters().size(), start.size());
  EXPECT_EQ(values_of(*model), start) << "moving the parameters changes none";

  for (int step = 0; step < 10; ++step) {
    const double lr = 0.01 / (1 + step % 4);
    const std::vector<float> gradients = made_up_gradients(start.size(), step);
    adam.zero_gradients();
    std::size_t next = 0;
    for (const at::Tensor& tensor : model->parameters())  // each tensor's own gradient, as backward() leaves it
      for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.grad().data_ptr<float>()[i] += gradients[next++];
    adam.set_lr(lr);
    adam.step();
    reference.step(gradients, lr);
    SCOPED_TRACE("step " + std::to_string(step));
    expect_near(values_of(*model), reference.parameters, 1e-6, 1e-6);  // the ten steps change a value by up to 0.05
  }
  std::size_t begin = 0;
  const NamedTensors state = adam.state();
  EXPECT_EQ(state.front().second.item<float>(), 10.0F);
  for (std::size_t i = 1; i < state.size(); i += 2) {  // first and second moment of every tensor
    const auto size = static_cast<std::size_t>(state[i].second.numel());
    const auto part = [&](const std::vector<double>& all) {
      return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                 all.begin() + static_cast<std::ptrdiff_t>(begin + size));
    };
    SCOPED_TRACE(state[i].first);
    expect_near({state[i].second.data_ptr<float>(), size}, part(reference.exp_avg), 1e-4, 1e-9);
    expect_near({state[i + 1].second.data_ptr<float>(), size}, part(reference.exp_avg_sq), 1e-4, 1e-12);
    begin += size;
  }
  EXPECT_EQ(begin, start.size());
}

INSTANTIATE_TEST_SUITE_P(WeightDecay, FlatAdamSteps, testing::Values(0.0, 0.0005, 0.1));

}  // namespace
}  // namespace salient
