// models/resident/operands.h - the factors of a layer's product, and the way of its gradient: kernels over a tree.
//
// A layer's operand has one row for each node that the layer computes: the mean over its children | its own row. Both
// parts are `width` columns, padded with zeros to a multiple of 8. Rows behind the tree's end, up to its capacity, are
// zeros, so that products may have a fixed size.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/products/activation_type.h"
#include "models/resident/tree.h"
#include "store/row_table.h"

namespace salient {

struct FeatureRows {
  const std::byte* data;  ///< [num_nodes, width] device
  FeatureType type;
  std::int64_t width;
  float unit = 1;   ///< what the stored numbers are times: of kFp8 the table's scale
  NearRows near{};  ///< copies that sampled layers read; exact ones read all rows where they are
};

/// Rows of an operand behind its level's end, up to the capacity.
enum class RowsBehind : std::uint8_t { kZeros, kAsTheyWere };

/// The first layer's operand, from the feature table. Terms of a mean are added in the samplers' order, in f32.
///
/// @param out  [capacity, 2 * padded(width)] device
/// Cost: reads the row of every node and every entry once, in random order, and writes `out`.
void aggregate_features(const LastHop& hop, const FeatureRows& features, ActivationType type, RowsBehind behind,
                        void* out, cudaStream_t stream);

/// The same in bf16 by a few multiprocessors, on which nothing else runs meanwhile: for work beside it that wants whole
/// multiprocessors. Rows behind the level's end are left as they were.
void aggregate_features_apart(const LastHop& hop, const FeatureRows& features, int multiprocessors, void* out,
                              cudaStream_t stream);

/// The dropout of a hidden layer: models/kernels/dropout.h with the seed and step of the header.
struct TreeDropout {
  const StepHeader* header;
  std::uint32_t layer;
  std::uint32_t threshold;  ///< 0 = none
  float scale;
};

/// A hidden layer over a tree: h = dropout(relu(z)), of the nodes of the grown level.
struct HiddenLayer {
  TreeGrowth growth;
  const NodeId* nodes;  ///< the tree's, for the dropout masks
  TreeDropout dropout;
  std::int64_t width;  ///< a multiple of 8
  ActivationType type;
  std::uint8_t* kept;  ///< [grown_capacity, width / 8] device: bit c % 8 of byte c / 8 = (element is positive and
                       ///< kept); null: aggregate_backward() is not called
};

/// The operand of the layer behind it; writes `kept` if there is one.
///
/// @param z    [grown_capacity, width] device
/// @param out  [capacity, 2 * width] device
void aggregate_hidden(const HiddenLayer& layer, const void* z, void* out, cudaStream_t stream);

/// The gradient of aggregate_hidden(): dz from the operand's gradient. Each row has one source, so nothing is added up.
///
/// @param gradient  [capacity, 2 * width] device
/// @param dz        [grown_capacity, width] device; every row is written
void aggregate_backward(const HiddenLayer& layer, const void* gradient, void* dz, cudaStream_t stream);

}  // namespace salient
