// models/gcn.h - graph convolutional network.
#pragma once

#include <memory>

#include "models/conv_stack.h"

namespace salient {

/// h_i' = W (sum over the neighbours j != i of h_j / sqrt(d_i d_j), and h_i / d_i) + b, where d is the number of
/// neighbours in the whole graph, plus 1. PyG's GCNConv(normalize=True, add_self_loops=True); its parameter names:
/// lin.weight, bias. Over a sampled row, entries count (entries of the whole row) / (entries kept) times: the sum is
/// unbiased.
///
/// GcnNorm::kRow: h_i' = W mean(h_j : j a kept entry of i, and i itself) + b, PyG's GCNConv(normalize=False) with these
/// weights. It reads no degrees.
///
/// By weight h_j counts w_ij times, d is the weight of the row in the whole graph, plus 1, and the mean is that of
/// row_mean_by_weight(): PyG's GCNConv with edge_weight.
class GcnConv : public Conv {
 public:
  GcnConv(std::int64_t in_dim, std::int64_t out_dim, GcnNorm norm, AggregateBy by = AggregateBy::kCount);
  at::Tensor forward(const HopView& hop, const InputRows& x) override;
  bool reads_degrees() const override { return norm_ == GcnNorm::kSymmetric; }

 private:
  at::Tensor propagate(const HopView& hop, const at::Tensor& x) const;

  GcnNorm norm_;
  AggregateBy by_;
  std::shared_ptr<Linear> lin_;
  at::Tensor bias_;  ///< starts at 0
};

/// A stack of GCNConv.
///
/// Algorithm: Kipf and Welling, "Semi-supervised classification with graph convolutional networks" (ICLR 2017):
/// D^-1/2 (A + I) D^-1/2; kRow is D^-1 (A + I).
std::shared_ptr<Model> make_gcn(const ModelOptions& options);

}  // namespace salient
