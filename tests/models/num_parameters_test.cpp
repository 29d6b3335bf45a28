// tests/models/num_parameters_test.cpp - the formula counts what the models have.
#include "models/num_parameters.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "models/model.h"

namespace salient {
namespace {

std::int64_t counted(const ModelOptions& options) {
  std::int64_t sum = 0;
  for (const at::Tensor& parameter : make_model(options)->parameters()) sum += parameter.numel();
  return sum;
}

TEST(NumParameters, AreThoseOfTheBuiltModels) {
  int num_compared = 0;
  for (const auto& [kind, name] : names_of(ModelKind{}))
    for (const auto& [norm, norm_name] : names_of(NormKind{}))
      for (const auto& [jk, jk_name] : names_of(JumpingKnowledge{}))
        for (const bool residual : {false, true})
          for (const int in_dim : {7, 12})  // another width than the hidden layers, and the same
            for (const int num_layers : {1, 2, 3}) {
              ModelOptions options;
              options.kind = kind;
              options.in_dim = in_dim;
              options.hidden_dim = 12;
              options.num_classes = 5;
              options.num_layers = num_layers;
              options.norm = norm;
              options.residual = residual;
              options.jk = jk;
              options.heads = kind == ModelKind::kGat || kind == ModelKind::kGatv2 ? 3 : 1;
              if (!problems_of(options).empty()) continue;  // sage-ri has no choices
              ++num_compared;
              EXPECT_EQ(num_parameters(options), counted(options))
                  << name << ", norm " << norm_name << ", jk " << jk_name << (residual ? ", residual, " : ", ")
                  << in_dim << " in, " << num_layers << " layers";
            }
  EXPECT_EQ(num_compared, 5 * 3 * 3 * 2 * 2 * 3 + 2 * 3);
}

}  // namespace
}  // namespace salient
