// models/exact/exact_products.h - the products of exact inference: a hidden layer of a block of nodes and, behind
// the last hidden one, both matrices of the last layer. By an ExactLayer where it fits, else by cuBLASLt.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/exact/all_neighbors.h"
#include "models/exact/exact_layer.h"
#include "models/exact/exact_shape.h"
#include "models/products/products.h"
#include "models/resident/weights.h"

namespace salient {

/// Device memory, zeros once the device is synchronized.
DeviceArray<std::byte> zeroed_array(std::int64_t bytes, const char* what);

/// Where the results of a block go. f16 device.
struct ExactResults {
  std::byte* result;         ///< [rows, hidden_dim]; of the last hidden layer null
  std::byte *around, *self;  ///< [rows, classes] of the last hidden layer: by the last one's two matrices; or null
  std::int32_t* beyond_f16;  ///< [1] may become 1 where a value is beyond the range of f16, as in GatherScratch
};

/// Memory that planning may overwrite. Device.
struct ExactPlanMemory {
  const std::byte* operand;  ///< of a block, as all_neighbors_operand() writes it
  std::byte* classes;        ///< [block_rows, classes] f16
};

class ExactProducts {
 public:
  /// Allocates weights and what lies between products; times algorithms. Blocks.
  /// @param tables  that the hidden layers read
  ExactProducts(const ExactShape& shape, std::span<const FeatureRows> tables, const ExactPlanMemory& memory);

  /// Packs the model's weights. Enqueues.
  void pack(std::span<const SageWeights> of_model, cudaStream_t stream);

  /// What run() reads of a block: the means alone, since own rows are read from the table; or the whole operand.
  bool reads_means_alone(const NodeBlock& block) const { return !exact_layers_.empty() && block.nodes == nullptr; }

  /// Enqueues the products of layer i, which is hidden.
  /// @param multiprocessors  that nothing else uses meanwhile; cuBLASLt takes what it gets
  void run(std::size_t i, const NodeBlock& block, const std::byte* operand, const ExactResults& to, int multiprocessors,
           cudaStream_t stream) const;

 private:
  void plan_exact_layers();
  void plan_products(const ExactPlanMemory& memory);

  const ExactShape shape_;
  const std::vector<ExactWidth> widths_;
  const std::vector<FeatureRows> tables_;
  std::vector<DeviceArray<std::byte>> weights_;
  std::vector<ExactLayer> exact_layers_;  // of the hidden layers, or none
  DeviceArray<std::byte> last_weight_;    // of exact_layers_: the last layer's two matrices behind each other
  std::optional<Products> products_;      // without exact_layers_, as all that follows
  std::vector<Product> layers_;           // of hidden layers; then the last one's two matrices, around and self
  DeviceArray<std::byte> hidden_rows_;    // [block_rows, hidden_dim] of the last hidden layer
};

}  // namespace salient
