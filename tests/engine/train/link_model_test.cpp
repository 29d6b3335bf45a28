// tests/engine/train/link_model_test.cpp - losses of links by their formulas, and a decoder that is part of its model.
#include "engine/train/link_model.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

namespace salient {
namespace {

double softplus(double x) { return std::log1p(std::exp(x)); }

TEST(LinkLoss, IsTheSumOfItsTerms) {
  constexpr int kLinks = 3, kNegatives = 2;
  const at::Tensor scores = at::tensor({0.5, -1.0, 2.0, 0.25, 1.0, -0.5, 0.75, 3.0, -2.0}, at::kFloat);
  const auto s = [&](int i) { return scores[i].item<double>(); };
  const auto n = [&](int i, int j) { return scores[kLinks + i * kNegatives + j].item<double>(); };
  double bce = 0, softmax = 0, margin = 0, bpr = 0;
  for (int i = 0; i < kLinks; ++i) {
    bce += softplus(-s(i));
    double all = std::exp(s(i));
    for (int j = 0; j < kNegatives; ++j) {
      bce += softplus(n(i, j));
      all += std::exp(n(i, j));
      margin += std::max(0.0, 1 - s(i) + n(i, j));
      bpr += softplus(n(i, j) - s(i));
    }
    softmax += std::log(all) - s(i);
  }
  EXPECT_NEAR(link_loss_sum(scores, kLinks, LinkLoss::kBce).item<double>(), bce, 1e-5);
  EXPECT_NEAR(link_loss_sum(scores, kLinks, LinkLoss::kSoftmax).item<double>(), softmax, 1e-5);
  EXPECT_NEAR(link_loss_sum(scores, kLinks, LinkLoss::kMargin).item<double>(), margin, 1e-5);
  EXPECT_NEAR(link_loss_sum(scores, kLinks, LinkLoss::kBpr).item<double>(), bpr, 1e-5);
  EXPECT_EQ(terms_of_link(LinkLoss::kBce, 2), 3);
  EXPECT_EQ(terms_of_link(LinkLoss::kSoftmax, 2), 1);
  EXPECT_EQ(terms_of_link(LinkLoss::kBpr, 2), 2);
}

std::shared_ptr<Model> model_with(DecoderKind kind, std::uint32_t seed = 1) {
  auto model = make_model({.in_dim = 3, .hidden_dim = 8, .num_classes = 8, .num_layers = 2, .seed = seed});
  add_decoder(*model, {kind, 8}, seed);
  return model;
}

TEST(LinkDecoder, ItsParametersAreTheModels) {
  const auto model = model_with(DecoderKind::kMlp);
  std::set<std::string> names;
  for (const auto& named : model->named_parameters()) names.insert(named.key());
  for (const char* name : {"decoder.lin.0.weight", "decoder.lin.0.bias", "decoder.lin.1.weight", "decoder.lin.1.bias"})
    EXPECT_TRUE(names.contains(name)) << name;
  const auto again = model_with(DecoderKind::kMlp), other = model_with(DecoderKind::kMlp, 2);
  const auto weight_of = [](const Model& of) { return of.named_parameters()["decoder.lin.0.weight"]; };
  EXPECT_TRUE(at::equal(weight_of(*model), weight_of(*again)));
  EXPECT_FALSE(at::equal(weight_of(*model), weight_of(*other)));
}

TEST(LinkDecoder, ScoresPairsOfRows) {
  const at::Tensor rows = at::arange(0, 24, at::kFloat).view({3, 8}) / 10;
  const at::Tensor pairs = at::tensor({0, 1, 2, 0, 1, 1}, at::kInt).view({3, 2});
  const at::Tensor dot = LinkDecoder(*model_with(DecoderKind::kDot), DecoderKind::kDot, 8).scores(rows, pairs);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(dot[i].item<float>(),
                (rows[pairs[i][0].item<int>()] * rows[pairs[i][1].item<int>()]).sum().item<float>(), 1e-5);
  for (const auto& [kind, name] : names_of(DecoderKind{})) {
    const auto model = model_with(kind);
    const at::Tensor scores = LinkDecoder(*model, kind, 8).scores(rows, pairs);
    EXPECT_EQ(scores.numel(), 3) << name;
    EXPECT_EQ(scores.requires_grad(), kind != DecoderKind::kDot) << name;
  }
}

}  // namespace
}  // namespace salient
