// tests/models/describe/describe_test.cpp - lists say what the models have and compute.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "models/describe/costs.h"
#include "models/describe/layer_list.h"
#include "models/model.h"
#include "tests/support/batch_views.h"
#include "tests/support/every_model.h"

namespace salient {
namespace {

TEST(Describe, ParametersAreThoseOfTheBuiltModels) {
  int num_compared = 0;
  test::for_each_model([&](const ModelOptions& options, const std::string& name) {
    std::map<std::string, std::vector<std::int64_t>> described;
    for (const ParameterShape& parameter : parameters_of(describe(options)))
      EXPECT_TRUE(described.emplace(parameter.name, parameter.shape).second) << parameter.name << " twice: " << name;
    std::map<std::string, std::vector<std::int64_t>> built;
    std::int64_t size = 0;
    for (const auto& item : make_model(options)->named_parameters()) {
      built[item.key()] = item.value().sizes().vec();
      size += item.value().numel();
    }
    EXPECT_EQ(described, built) << name;
    EXPECT_EQ(num_parameters(describe(options)), size) << name;
    ++num_compared;
  });
  EXPECT_EQ(num_compared, 6 * 3 * 3 * 2 * 2 * 3 + 2 * 3);
}

/// [num_dst, num_src]: how often each source is an entry of each row.
at::Tensor entries_of(const HopView& hop) {
  at::Tensor counts = at::zeros({hop.num_dst, hop.num_src});
  auto count = counts.accessor<float, 2>();
  const auto indptr = hop.indptr.accessor<int, 1>(), indices = hop.indices.accessor<int, 1>();
  for (std::int64_t i = 0; i < hop.num_dst; ++i)
    for (int e = indptr[i]; e < indptr[i + 1]; ++e) count[i][indices[e]] += 1;
  return counts;
}

/// Computes a list by dense matrices, one operation after the other, without dropout.
class Computed {
 public:
  Computed(const Model& model, const BatchView& batch) : batch_(batch) {
    for (const auto& item : model.named_parameters()) values_[item.key()] = item.value().detach();
    for (const auto& item : model.named_buffers()) values_[item.key()] = item.value();
  }

  at::Tensor logits(const LayerList& list) {
    for (const Op& op : list.ops) {
      op_ = &op;
      results_.push_back(std::visit([this](const auto& what) { return compute(what); }, op.what));
      EXPECT_EQ(results_.back().sizes(), (at::IntArrayRef{num_rows(), op.width}));
    }
    return results_.back();
  }

 private:
  bool is_head() const { return op_->layer == static_cast<int>(batch_.hops.size()); }
  const HopView& hop() const { return batch_.hops[static_cast<std::size_t>(op_->layer)]; }
  std::int64_t num_rows() const {
    if (is_head()) return batch_.hops.back().num_dst;
    return op_->rows == RowSet::kSources ? hop().num_src : hop().num_dst;
  }
  at::Tensor whole_input(std::size_t i) const { return results_[static_cast<std::size_t>(op_->inputs[i])]; }
  at::Tensor input(std::size_t i = 0) const { return whole_input(i).narrow(0, 0, num_rows()); }
  at::Tensor value(const std::string& name) const { return values_.at(name); }

  at::Tensor compute(const Input&) { return batch_.x.dense().to(at::kFloat); }

  at::Tensor compute(const Aggregate& aggregate) {
    const at::Tensor counts = entries_of(hop()), x = whole_input(0), self = input();
    const at::Tensor kept = counts.sum(1, true), sum = counts.mm(x), all = hop().degrees.select(1, 0).to(at::kFloat);
    const at::Tensor degree = all.narrow(0, 0, num_rows()).unsqueeze(1), share = degree / kept.clamp_min(1);
    switch (aggregate.kind) {
      case SumKind::kMean: return sum / kept.clamp_min(1);
      case SumKind::kRowMean: return (sum + self) / (kept + 1);
      case SumKind::kPlain: return sum + (value(aggregate.eps) + 1) * self;
      case SumKind::kScaled: return sum * share + (value(aggregate.eps) + 1) * self;
      case SumKind::kSymmetric: break;
    }
    const at::Tensor loops = hop().degrees.select(1, 1).to(at::kFloat), root = (all - loops + 1).rsqrt().unsqueeze(1);
    const at::Tensor own_root = root.narrow(0, 0, num_rows()), own_loops = loops.narrow(0, 0, num_rows()).unsqueeze(1);
    return (counts.mm(x * root) * share + self * own_root * (1 - own_loops)) * own_root;
  }

  at::Tensor compute(const Maximum&) {
    const at::Tensor is_entry = entries_of(hop()).gt(0).unsqueeze(2);
    const at::Tensor largest = at::where(is_entry, whole_input(0).unsqueeze(0), -INFINITY).amax(1);
    return at::where(largest.isinf(), at::zeros_like(largest), largest);
  }

  at::Tensor compute(const Attend& attend) {
    at::Tensor counts = entries_of(hop());
    if (attend.kind != AttentionKind::kDot) counts.diagonal().fill_(1);  // a row itself once
    const std::int64_t channels = op_->width / attend.heads;
    const auto by_head = [&](const at::Tensor& x) { return x.view({x.size(0), attend.heads, channels}); };
    const at::Tensor z = by_head(whole_input(0));
    at::Tensor scores;  // [num_dst, num_src, heads]
    if (attend.kind == AttentionKind::kDot) {
      const at::Tensor scores_of_heads = at::einsum("ihc,jhc->ijh", {z, by_head(whole_input(1))});
      const at::Tensor each = (scores_of_heads / std::sqrt(static_cast<double>(channels))).exp() * counts.unsqueeze(2);
      const at::Tensor shares = each / each.sum(1, true).clamp_min(1e-30);
      return at::einsum("ijh,jhc->ihc", {shares, by_head(whole_input(2))}).reshape({num_rows(), -1});
    }
    if (attend.kind == AttentionKind::kGat) {
      const at::Tensor source = (z * value(attend.vectors[0])).sum(2), own = (z * value(attend.vectors[1])).sum(2);
      scores = at::leaky_relu(source.unsqueeze(0) + own.narrow(0, 0, num_rows()).unsqueeze(1), 0.2);
    } else {
      const at::Tensor both = z.unsqueeze(0) + by_head(whole_input(1)).unsqueeze(1);
      scores = (at::leaky_relu(both, 0.2) * value(attend.vectors[0]).unsqueeze(0)).sum(3);
    }
    const at::Tensor weights = scores.exp() * counts.unsqueeze(2);
    const at::Tensor out = at::einsum("ijh,jhc->ihc", {weights / weights.sum(1, true), z}).reshape({num_rows(), -1});
    return attend.bias.empty() ? out : out + value(attend.bias);
  }

  at::Tensor compute(const Project& project) {
    const at::Tensor y = input().mm(value(project.weight).t());
    return project.bias.empty() ? y : y + value(project.bias);
  }

  at::Tensor compute(const Normalise& norm) {
    const at::Tensor x = input(), weight = value(norm.name + ".weight"), bias = value(norm.name + ".bias");
    if (norm.kind == NormKind::kLayer) return at::layer_norm(x, {x.size(1)}, weight, bias);
    const at::Tensor mean = value(norm.name + ".running_mean"), variance = value(norm.name + ".running_var");
    return (x - mean) / (variance + 1e-5).sqrt() * weight + bias;
  }

  at::Tensor compute(const Activate& activate) { return at::leaky_relu(input(), activate.negative_slope); }
  at::Tensor compute(const Drop&) { return input(); }

  at::Tensor compute(const Combine& combine) {
    at::Tensor result = input();
    for (std::size_t i = 1; i < op_->inputs.size(); ++i) {
      const at::Tensor next = input(i);
      switch (combine.kind) {
        case CombineKind::kSum: result = result + next; break;
        case CombineKind::kConcat: result = at::cat({result, next}, 1); break;
        case CombineKind::kMax: result = at::maximum(result, next); break;
      }
    }
    return result;
  }

  const BatchView& batch_;
  std::map<std::string, at::Tensor> values_;
  std::vector<at::Tensor> results_;
  const Op* op_ = nullptr;
};

TEST(Describe, ComputedListsGiveTheModelsLogits) {
  test::for_each_model([](const ModelOptions& options, const std::string& name) {
    const at::NoGradGuard no_gradients;
    const std::vector<std::int64_t> num_nodes{60, 40, 15, 6};
    const BatchView batch = test::random_batch({num_nodes.end() - 1 - options.num_layers, num_nodes.end()},
                                               options.in_dim, options.num_classes, 3);
    const auto model = make_model(options);
    model->eval();
    for (const auto& item : model->named_buffers())  // so that no norm is the identity, and eps counts
      if (item.value().is_floating_point()) item.value().add_(0.25);
    const at::Tensor expected = model->forward(batch, {});
    const at::Tensor computed = Computed(*model, batch).logits(describe(options));
    EXPECT_TRUE(at::allclose(computed, expected, 1e-4, 1e-5)) << name << ": " << (computed - expected).abs().max();
  });
}

}  // namespace
}  // namespace salient
