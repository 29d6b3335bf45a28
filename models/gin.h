// models/gin.h - graph isomorphism network.
#pragma once

#include <memory>

#include "models/conv_stack.h"

namespace salient {

/// h_i' = MLP((1 + eps) h_i + sum(h_j : j an entry of i)), MLP = Linear, BatchNorm, ReLU, Linear, ReLU; the last ReLU
/// is that of the stack, behind a norm or residual. PyG's GINConv(Sequential(...)): eps is a buffer, 0 and not trained;
/// the parts of the MLP are nn.0, nn.1, nn.3. Over a sampled row GinSum::kScaled counts each entry (entries of the
/// whole row) / (entries kept) times, so that the sum is unbiased; kPlain adds up what was kept, and reads no degrees.
///
/// With edge_dim, PyG's GINEConv: h_j is relu(h_j + W_e e_ij + b_e), lin.weight and lin.bias.
class GinConv : public Conv {
 public:
  /// @param edge_dim  0 = features of edges are not read
  GinConv(std::int64_t in_dim, std::int64_t out_dim, GinSum sum, std::int64_t edge_dim = 0);
  at::Tensor forward(const HopView& hop, const InputRows& x) override;
  bool reads_degrees() const override { return sum_ == GinSum::kScaled; }

 private:
  at::Tensor sum_of_entries(const HopView& hop, const at::Tensor& x) const;
  at::Tensor sum_of_edges(const HopView& hop, const at::Tensor& x) const;
  at::Tensor propagate(const HopView& hop, const at::Tensor& x) const;

  GinSum sum_;
  std::int64_t edge_dim_;
  std::shared_ptr<Linear> lin_edge_;  ///< null without features of edges
  at::Tensor eps_;                    ///< [1]
  std::shared_ptr<Linear> first_, second_;
  std::shared_ptr<BatchNorm> norm_;
};

/// A stack of GINConv without dropout between them, all of them hidden, then Linear, ReLU, dropout, Linear.
/// Algorithm: Xu, Hu, Leskovec, Jegelka, "How powerful are graph neural networks?" (ICLR 2019), as in SALIENT's
///            artifact. GINE: Hu et al., "Strategies for pre-training graph neural networks" (ICLR 2020).
class Gin : public ConvStack {
 public:
  explicit Gin(const ModelOptions& options);

 protected:
  at::Tensor read_out(const at::Tensor& h, const DropoutKey& key) override;

 private:
  double dropout_;
  std::shared_ptr<Linear> lin1_, lin2_;
};

}  // namespace salient
