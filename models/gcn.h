// models/gcn.h - graph convolutional network.
#pragma once

#include <memory>
#include <vector>

#include "models/layers.h"
#include "models/model.h"

namespace salient {

/// h_i' = W mean(h_j : j in N(i), and i itself) + b. PyG's parameter names: lin.weight, bias.
class GcnConv : public ParameterOwner {
 public:
  GcnConv(std::int64_t in_dim, std::int64_t out_dim);
  void initialise(const std::string& name, const std::string& scheme, std::uint32_t seed) override;
  at::Tensor forward(const HopView& hop, const at::Tensor& x) const;

 private:
  std::shared_ptr<Linear> lin_;
  at::Tensor bias_;
};

/// GCNConv, ReLU, dropout, ..., GCNConv.
///
/// Algorithm: Kipf and Welling, "Semi-supervised classification with graph convolutional networks" (ICLR 2017), with
/// D^-1 (A + I) in place of D^-1/2 (A + I) D^-1/2: a sampled hop knows the degrees of its destinations alone, and only so
/// do sampled, exact and whole-graph passes compute the same function. Equals PyG's GCNConv(normalize=False) with these
/// edge weights.
class Gcn : public Model {
 public:
  explicit Gcn(const ModelOptions& options);
  at::Tensor layer(int i, const HopView& hop, const at::Tensor& x, const DropoutKey& key) override;
  int num_layers() const override { return static_cast<int>(convs_.size()); }

 private:
  double dropout_;
  std::vector<std::shared_ptr<GcnConv>> convs_;
};

}  // namespace salient
