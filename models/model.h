// models/model.h - what every GNN here looks like: layers over hops, then a head.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/dropout.h"

namespace salient {

/// One hop of a message-flow graph as tensors; borrows the batch's memory.
struct HopView {
  std::int64_t num_dst = 0;
  std::int64_t num_src = 0;
  at::Tensor indptr;   ///< int32 [num_dst + 1]
  at::Tensor indices;  ///< int32 [num_edges], each in [0, num_src)
};

/// A batch as tensors, on one device.
struct BatchView {
  at::Tensor x;               ///< f16 or f32 [N, feature_dim]
  at::Tensor y;               ///< int32 [S], -1 = unlabelled
  at::Tensor nodes;           ///< int32 [N], the bits of the global uint32 ids: what dropout's draws are keyed by
  std::vector<HopView> hops;  ///< [L] outermost first
};

struct ModelOptions {
  std::string model = "sage";
  int in_dim = 0;
  int hidden_dim = 256;
  int num_classes = 0;
  int num_layers = 3;
  double dropout = 0.5;
  std::string init = "pyg";  ///< "pyg": uniform within 1/sqrt(fan_in); "xavier": the artifact's
  std::uint32_t seed = 1;
};

/// Parameter names equal PyG's, so state dictionaries load there and back.
class Model : public torch::nn::Module {
 public:
  /// Layer `i` (0 = outermost) with what follows it up to the next layer. Usable on a whole graph as one hop: sampled
  /// training and layer-wise inference share this code.
  /// @param x  [num_src, width of layer i], f16 for the first layer if the data set stores it so.
  /// @return   [num_dst, width of layer i + 1] f32
  virtual at::Tensor layer(int i, const HopView& hop, const at::Tensor& x, const DropoutKey& key) = 0;

  /// What comes after the last layer. @return logits [S, num_classes] f32
  virtual at::Tensor head(const at::Tensor& x) { return x; }

  virtual int num_layers() const = 0;

  /// All layers, then the head. @return logits [S, num_classes]
  at::Tensor forward(const BatchView& batch, const DropoutKey& key);
};

/// @throws Error{kUsage} for an unknown model or initialisation. Determinism: parameters depend on options alone.
std::shared_ptr<Model> make_model(const ModelOptions& options);

}  // namespace salient
