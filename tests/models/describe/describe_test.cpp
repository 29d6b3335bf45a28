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
#include "tests/support/every_model.h"
#include "tests/support/typed_batches.h"

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
  EXPECT_EQ(num_compared, 11 * 3 * 3 * 2 * 2 * 3 + 2 * 3);
}

/// [num_dst, num_src]: how often each source is an entry of each destination's row, of that of one relation if given.
at::Tensor entries_of(const HopView& hop, int relation = kEvery) {
  at::Tensor counts = at::zeros({hop.num_dst, hop.num_src});
  auto count = counts.accessor<float, 2>();
  const auto indptr = hop.indptr.accessor<int, 1>(), indices = hop.indices.accessor<int, 1>();
  const auto add_row = [&](std::int64_t row, std::int64_t dst) {
    for (int e = indptr[row]; e < indptr[row + 1]; ++e) count[dst][indices[e]] += 1;
  };
  if (relation == kEvery) {
    for (std::int64_t i = 0; i < hop.num_dst; ++i) add_row(i, i);
    return counts;
  }
  const auto r = static_cast<std::size_t>(relation);
  const auto rows = hop.typed->relation_rows.accessor<int, 1>(), dst = hop.typed->row_dst.accessor<int, 1>();
  for (std::int64_t k = hop.typed->relation_begin[r]; k < hop.typed->relation_begin[r + 1]; ++k)
    add_row(rows[k], dst[rows[k]]);
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
    list_ = &list;
    for (const Op& op : list.ops) {
      op_ = &op;
      results_.push_back(of_type(std::visit([this](const auto& what) { return compute(what); }, op.what)));
      EXPECT_EQ(results_.back().sizes(), (at::IntArrayRef{num_rows(), op.width}));
    }
    return results_.back();
  }

 private:
  bool is_head() const { return op_->layer == static_cast<int>(batch_.hops.size()); }
  const HopView& hop() const { return batch_.hops[static_cast<std::size_t>(op_->layer)]; }
  std::int64_t num_rows() const {
    if (is_head()) return batch_.hops.back().num_dst;
    if (op_->rows == RowSet::kEntries) return hop().indices.numel();
    return op_->rows == RowSet::kSources ? hop().num_src : hop().num_dst;
  }
  at::Tensor whole_input(std::size_t i) const { return results_[static_cast<std::size_t>(op_->inputs[i])]; }
  at::Tensor input(std::size_t i = 0) const { return whole_input(i).narrow(0, 0, num_rows()); }
  at::Tensor value(const std::string& name) const { return values_.at(name); }

  /// Rows of a type that are 0 for all others.
  at::Tensor of_type(const at::Tensor& rows) const {
    if (op_->type == kEvery) return rows;
    at::Tensor is_of_type = at::zeros({rows.size(0), 1});
    const at::Tensor nodes = batch_.types[static_cast<std::size_t>(op_->type)].rows;
    is_of_type.index_fill_(0, nodes.masked_select(nodes.lt(rows.size(0))).to(at::kLong), 1);
    return rows * is_of_type;
  }
  /// @param rows  [nodes of the type, width]
  at::Tensor placed(const at::Tensor& rows) const {
    const TypeRows& type = batch_.types[static_cast<std::size_t>(op_->type)];
    return at::zeros({batch_.nodes.size(0), rows.size(1)}).index_copy(0, type.rows.to(at::kLong), rows);
  }

  at::Tensor compute(const Input&) {
    if (op_->type != kEvery) return placed(batch_.types[static_cast<std::size_t>(op_->type)].x.dense());
    return batch_.x.dense().to(at::kFloat);
  }

  at::Tensor compute(const EdgeInput&) { return hop().edge_x; }
  bool is_of_edges() const { return list_->at(op_->inputs.front()).rows == RowSet::kEntries; }

  at::Tensor compute(const Lookup& lookup) {
    const auto& types = test::small_types().node_types;
    std::int64_t first = 0;
    for (int t = 0; t < op_->type; ++t) first += types[static_cast<std::size_t>(t)].num_nodes;
    const at::Tensor of_type = batch_.types[static_cast<std::size_t>(op_->type)].rows;
    return placed(value(lookup.weight).index_select(0, batch_.nodes.index_select(0, of_type) - first));
  }

  /// Each entry's mapped features, and its row.
  at::Tensor edges(const std::string& weight) const { return hop().edge_x.mm(value(weight).t()); }
  at::Tensor row_of_entries() const { return at::repeat_interleave(hop().indptr.diff().to(at::kLong)); }
  at::Tensor sum_of_entries(const at::Tensor& entries) const {
    return at::zeros({num_rows(), entries.size(1)}).index_add(0, row_of_entries(), entries);
  }

  at::Tensor compute(const Aggregate& aggregate) {
    if (is_of_edges()) return sum_of_entries(whole_input(0)) / hop().indptr.diff().clamp_min(1).unsqueeze(1);
    const at::Tensor counts = entries_of(hop(), op_->relation), x = whole_input(0).narrow(0, 0, hop().num_src),
                     self = input();
    at::Tensor kept = counts.sum(1, true), sum = counts.mm(x);
    if (!aggregate.edge_weight.empty())
      sum = sum_of_entries(
          (x.index_select(0, hop().indices) + edges(aggregate.edge_weight) + value(aggregate.edge_bias)).relu());
    if (aggregate.kind == SumKind::kMean) return sum / kept.clamp_min(1);
    const at::Tensor all = hop().degrees.select(1, 0).to(at::kFloat);
    const at::Tensor degree = all.narrow(0, 0, num_rows()).unsqueeze(1), share = degree / kept.clamp_min(1);
    switch (aggregate.kind) {
      case SumKind::kMean: break;
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
    const at::Tensor is_entry = (is_of_edges() ? at::arange(num_rows()).unsqueeze(1).eq(row_of_entries().unsqueeze(0))
                                               : entries_of(hop()).gt(0))
                                    .unsqueeze(2);
    const at::Tensor largest = at::where(is_entry, whole_input(0).unsqueeze(0), -INFINITY).amax(1);
    return at::where(largest.isinf(), at::zeros_like(largest), largest);
  }

  at::Tensor compute(const Attend& attend) {
    if (attend.kind == AttentionKind::kHgt) return compute_hgt(attend);
    if (!attend.edge_weight.empty()) return compute_of_edges(attend);
    at::Tensor counts = entries_of(hop(), op_->relation);
    const bool is_of_relation = attend.kind == AttentionKind::kRelationGat;
    if (attend.kind != AttentionKind::kDot && !is_of_relation) counts.diagonal().fill_(1);  // a row itself once
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
    if (attend.kind == AttentionKind::kGat || is_of_relation) {
      const at::Tensor by_own = is_of_relation ? by_head(whole_input(1)) : z;
      const at::Tensor source = (z * value(attend.vectors[0])).sum(2), own = (by_own * value(attend.vectors[1])).sum(2);
      scores = at::leaky_relu(source.unsqueeze(0) + own.narrow(0, 0, num_rows()).unsqueeze(1), 0.2);
    } else {
      const at::Tensor both = z.unsqueeze(0) + by_head(whole_input(1)).unsqueeze(1);
      scores = (at::leaky_relu(both, 0.2) * value(attend.vectors[0]).unsqueeze(0)).sum(3);
    }
    const at::Tensor weights = scores.exp() * counts.unsqueeze(2);
    const at::Tensor out =
        at::einsum("ijh,jhc->ihc", {weights / weights.sum(1, true).clamp_min(1e-30), z}).reshape({num_rows(), -1});
    return attend.bias.empty() ? out : out + value(attend.bias);
  }

  /// kDot, entry by entry.
  at::Tensor compute_of_edges(const Attend& attend) {
    const std::int64_t channels = op_->width / attend.heads;
    const auto by_head = [&](const at::Tensor& x) { return x.view({x.size(0), attend.heads, channels}); };
    const at::Tensor of_edges = edges(attend.edge_weight);
    const auto of_entries = [&](std::size_t i) {
      return by_head(whole_input(i).index_select(0, hop().indices) + of_edges);
    };
    const at::Tensor queries = by_head(whole_input(0)).index_select(0, row_of_entries());
    const at::Tensor weights = ((queries * of_entries(1)).sum(2) / std::sqrt(static_cast<double>(channels))).exp();
    const at::Tensor sums = sum_of_entries((of_entries(2) * weights.unsqueeze(2)).reshape({-1, op_->width}));
    return (by_head(sums) / sum_of_entries(weights).clamp_min(1e-30).unsqueeze(2)).reshape({num_rows(), -1});
  }

  /// As models/hgt.h has it: keys and values are mapped by each relation.
  at::Tensor compute_hgt(const Attend& attend) {
    const std::int64_t heads = attend.heads, channels = op_->width / heads, num_src = hop().num_src;
    const auto num_relations = static_cast<std::int64_t>(attend.scales.size());
    const auto part = [&](std::int64_t i, std::int64_t rows) {
      return whole_input(0).narrow(0, 0, rows).narrow(1, i * op_->width, op_->width).reshape({rows, heads, channels});
    };
    const at::Tensor keys = part(0, num_src), queries = part(1, num_rows()), values = part(2, num_src);
    at::Tensor sums = at::zeros({num_rows(), heads, channels}), norms = at::zeros({num_rows(), heads, 1});
    for (std::int64_t r = 0; r < num_relations; ++r) {
      const auto map = [&](const at::Tensor& x, const std::string& name) {
        return at::einsum("nhc,hcd->nhd",
                          {x, value(name).view({heads, num_relations, channels, channels}).select(1, r)});
      };
      const at::Tensor scores = at::einsum("ihc,jhc->ijh", {queries, map(keys, attend.maps[0])}) *
                                value(attend.scales[static_cast<std::size_t>(r)]) /
                                std::sqrt(static_cast<double>(channels));
      const at::Tensor weights = scores.exp() * entries_of(hop(), static_cast<int>(r)).unsqueeze(2);
      sums = sums + at::einsum("ijh,jhc->ihc", {weights, map(values, attend.maps[1])});
      norms = norms + weights.sum(1).unsqueeze(2);
    }
    return (sums / norms.clamp_min(1e-30)).reshape({num_rows(), -1});
  }

  at::Tensor weight_of(const Project& project) const {
    const at::Tensor weight = value(project.weight);
    switch (project.form) {
      case WeightForm::kRows: return weight.t();
      case WeightForm::kColumns: return weight;
      case WeightForm::kOfRelation: return weight[op_->relation];
      case WeightForm::kBlocks: return at::block_diag(weight[op_->relation].unbind(0));
      case WeightForm::kBases: return at::einsum("b,bio->io", {value(project.shares)[op_->relation], weight});
    }
    return {};
  }

  at::Tensor compute(const Project& project) {
    const at::Tensor y = input().mm(weight_of(project));
    return project.bias.empty() ? y : y + value(project.bias);
  }

  at::Tensor compute(const Normalise& norm) {
    const at::Tensor x = input(), weight = value(norm.name + ".weight"), bias = value(norm.name + ".bias");
    if (norm.kind == NormKind::kLayer) return at::layer_norm(x, {x.size(1)}, weight, bias);
    const at::Tensor mean = value(norm.name + ".running_mean"), variance = value(norm.name + ".running_var");
    return (x - mean) / (variance + 1e-5).sqrt() * weight + bias;
  }

  at::Tensor compute(const Activate& activate) { return at::leaky_relu(input(), activate.negative_slope); }
  at::Tensor compute(const Gelu&) { return at::gelu(input()); }
  at::Tensor compute(const Mix& mix) {
    const at::Tensor share = value(mix.gate).sigmoid();
    return share * input(0) + (1 - share) * input(1);
  }
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
  const LayerList* list_ = nullptr;
  const Op* op_ = nullptr;
};

TEST(Describe, ComputedListsGiveTheModelsLogits) {
  test::for_each_model([](const ModelOptions& options, const std::string& name) {
    const at::NoGradGuard no_gradients;
    const std::vector<std::int64_t> num_nodes{60, 40, 15, 6};
    const BatchView batch = test::batch_for(options, {num_nodes.end() - 1 - options.num_layers, num_nodes.end()}, 3);
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
