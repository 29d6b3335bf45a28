// models/model.h - what every GNN here looks like: layers over hops, then a head.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "models/batch_view.h"
#include "models/numerics.h"
#include "models/ops/dropout.h"

namespace salient {

/// Parameter names equal PyG's, so state dictionaries load there and back. Dropout happens in training mode alone.
class Model : public torch::nn::Module {
 public:
  /// What layer 0 reads of a batch: its features as they are; of a typed graph a row [hidden] of each node, made of its
  /// type's features or learned. A part of a graph is a batch, too: of `types` and `nodes` alone. In evaluation mode
  /// the key may be empty.
  /// @throws Error{kInternal} if the batch has none.
  virtual InputRows input(const BatchView& batch, const DropoutKey& key);

  /// Layer `i` (0 = outermost) with what follows it up to the next layer: residual, norm, activation, dropout. Usable
  /// on a whole graph as one hop: sampled training and layer-wise inference share this code. In evaluation mode the key
  /// may be empty, and a row of the result depends on that row and its entries alone.
  /// @param x  [num_src, width of layer i]; f16, or sparse, for the first layer if the data set stores it so.
  /// @return   [num_dst, width of layer i + 1] f32
  virtual at::Tensor layer(int i, const HopView& hop, const InputRows& x, const DropoutKey& key) = 0;

  /// What comes after the last layer.
  /// @param h  [num_layers + 1]: the batch's input(), then each layer's result, all cut to the seeds' rows; all but the
  ///           last may be undefined unless head_reads_all_layers(). Layers' results are dense.
  /// @return   logits [S, num_classes] f32
  virtual at::Tensor head(const std::vector<InputRows>& h, const DropoutKey& key);

  virtual bool head_reads_all_layers() const { return false; }

  /// Hops must carry degrees; as reads_degrees() of its options.
  virtual bool reads_degrees() const { return false; }

  /// Hops must carry features of edges; as reads_edge_features() of its options.
  virtual bool reads_edge_features() const { return false; }

  /// Hops must carry the weights of edges, and beside degrees those of whole rows; as of its options.
  virtual bool reads_edge_weights() const { return false; }

  virtual int num_layers() const = 0;

  /// All layers, one after the other. @return  [num_layers + 1], what head() takes
  /// @throws Error{kInternal} if the batch does not have one hop per layer, or no features.
  std::vector<InputRows> layers(const BatchView& batch, const DropoutKey& key);

  /// All layers, then the head. @return logits [S, num_classes]
  /// @throws as layers().
  at::Tensor forward(const BatchView& batch, const DropoutKey& key) { return head(layers(batch, key), key); }
};

/// A model on the host, in training mode, that computes as `numerics` says on whichever device it moves to.
///
/// @throws Error{kUsage} with the first of problems_of(options), or obstacle_in_types() of them.
/// Determinism: parameters depend on the options alone, not on torch's generator, device or rank.
std::shared_ptr<Model> make_model(const ModelOptions& options, const Numerics& numerics = {});

}  // namespace salient
