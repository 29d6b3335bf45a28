// models/gcn.h - graph convolutional network.
#pragma once

#include <memory>

#include "models/conv_stack.h"

namespace salient {

/// h_i' = W mean(h_j : j in N(i), and i itself) + b. PyG's parameter names: lin.weight, bias.
class GcnConv : public Conv {
 public:
  GcnConv(std::int64_t in_dim, std::int64_t out_dim);
  at::Tensor forward(const HopView& hop, const at::Tensor& x) override;

 private:
  std::shared_ptr<Linear> lin_;
  at::Tensor bias_;  ///< starts at 0
};

/// A stack of GCNConv.
///
/// Algorithm: Kipf and Welling, "Semi-supervised classification with graph convolutional networks" (ICLR 2017), with
/// D^-1 (A + I) in place of D^-1/2 (A + I) D^-1/2: a sampled hop has the degrees of its destinations alone, and only so
/// do sampled, exact and whole-graph passes compute the same function. Equals PyG's GCNConv(normalize=False) with these
/// edge weights.
std::shared_ptr<Model> make_gcn(const ModelOptions& options);

}  // namespace salient
