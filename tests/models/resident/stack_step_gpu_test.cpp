// tests/models/resident/stack_step_gpu_test.cpp - steps of stacks with every combination of what is between layers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/describe/costs.h"
#include "models/describe/resident_limits.h"
#include "tests/models/resident/model_problem.h"

namespace salient {
namespace {

using test::ModelCase;

class ResidentStack : public testing::TestWithParam<ModelCase> {};

TEST_P(ResidentStack, TrainsAsTheModelOnTheHost) { test::expect_training_as_on_the_host(GetParam()); }

/// Sizes in turns: features of another width than hidden layers have, or of the same; one layer, where that is hidden.
/// In bf16 layers are wide: of few columns a unit that rounding moves over the edge of a ReLU is a large part.
void set_sizes(ModelCase& c, int turn) {
  const bool is_wide = c.activations == ActivationType::kBf16;
  c.hidden_dim = is_wide ? 256 : 24;
  switch (c.jk == JumpingKnowledge::kNone ? turn % 2 : turn % 3) {
    case 0: c.fanouts = {4, 3}, c.in_dim = is_wide ? 100 : 45; break;
    case 1: c.fanouts = {3, 3, 2}, c.in_dim = c.hidden_dim; break;
    case 2: c.fanouts = {6}, c.in_dim = turn % 2 == 0 ? c.hidden_dim : 13; break;
  }
  c.num_classes = 6;
  c.has_size_choice = turn % 4 == 0;
  c.dropout = turn % 5 < 3 ? 0.5 : 0;
}

/// With `heads` in hidden layers, of 8 columns or of 64.
void add_cases(std::vector<ModelCase>& all, ModelKind kind, const std::string& kind_name, int heads, int& turn) {
  for (const auto& [norm, norm_name] : names_of(NormKind{}))
    for (const auto& [jk, jk_name] : names_of(JumpingKnowledge{}))
      for (const bool residual : {false, true}) {
        ModelCase c{kind_name + "_norm_" + norm_name + "_jk_" + jk_name, kind, {}, 0, 0, 0};
        if (residual) c.name += "_residual";
        c.norm = norm, c.residual = residual, c.jk = jk;
        c.is_deterministic = true;
        for (int of_combination = 0; of_combination < 2; ++of_combination, ++turn) {
          c.activations = of_combination == 0 ? ActivationType::kF32 : ActivationType::kBf16;
          set_sizes(c, turn);
          c.heads = heads > 1 && c.activations == ActivationType::kBf16 ? 4 : heads;
          all.push_back(c);
          all.back().name += of_combination == 0 ? "_f32" : "_bf16";
        }
      }
  ++turn;  // another size for the next kind
}

std::vector<ModelCase> cases() {
  std::vector<ModelCase> all;
  int turn = 0;
  for (const int heads : {1, 3})
    for (const auto& [kind, name] : names_of(ModelKind{})) {
      if (kind == ModelKind::kSageRi || !resident_obstacle({.kind = kind}).empty()) continue;
      if (heads > 1 && !has_attention(kind)) continue;
      add_cases(all, kind, std::string(name) + (heads > 1 ? "_heads" : ""), heads, turn);
    }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Options, ResidentStack, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<ModelCase>& each) { return each.param.name; });

}  // namespace
}  // namespace salient
