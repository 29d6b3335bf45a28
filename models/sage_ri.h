// models/sage_ri.h - GraphSAGE with residual connections and an inception-like head.
#pragma once

#include <memory>
#include <vector>

#include "models/layers.h"
#include "models/model.h"
#include "models/sage.h"

namespace salient {

/// With D = dropout, with a mask of its own each time: x_0 = D(x);
/// x_{i+1} = D(leaky_relu(BatchNorm(SAGEConv(D(x_i))))) + R_i(x_i), R_0 linear, the others the identity;
/// logits = MLP(x_0 | x_1 | ... | x_L), MLP = Linear, BatchNorm, leaky ReLU, Linear, of width 2 * num_classes.
///
/// As SALIENT's artifact (Kaler et al., MLSys 2022), names included, but for the MLP: a flag there leaves out what is
/// between its two linear maps, so that they are one.
class SageRi : public Model {
 public:
  explicit SageRi(const ModelOptions& options);
  at::Tensor layer(int i, const HopView& hop, const InputRows& x, const DropoutKey& key) override;
  at::Tensor head(const std::vector<InputRows>& h, const DropoutKey& key) override;
  bool head_reads_all_layers() const override { return true; }
  bool reads_edge_weights() const override { return reads_edge_weights_; }
  int num_layers() const override { return static_cast<int>(convs_.size()); }

 private:
  enum class Mask : std::uint32_t { kInput, kNeighbours, kSelf, kOutput };
  InputRows drop(const InputRows& x, const DropoutKey& key, int layer, Mask mask) const;

  double dropout_;
  bool reads_edge_weights_;
  std::vector<std::shared_ptr<SageConv>> convs_;
  std::vector<std::shared_ptr<BatchNorm>> norms_;
  std::shared_ptr<Linear> first_residual_;
  std::shared_ptr<Linear> mlp_first_, mlp_second_;
  std::shared_ptr<BatchNorm> mlp_norm_;
};

}  // namespace salient
