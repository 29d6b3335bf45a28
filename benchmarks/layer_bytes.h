// benchmarks/layer_bytes.h - bytes that kernels of a resident step read and write beside its products, by layer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "models/describe/stack.h"

namespace salient {

inline double padded_columns(std::int64_t columns) { return static_cast<double>((columns + 7) / 8 * 8); }

constexpr double kSector = 32;  ///< bytes of memory: the least that a random read takes

/// Of the means of features of edges: entries and the rows that these have, and columns that are written. Places take 8
/// bytes each.
struct EdgeRowReads {
  double entries, row_bytes;
};
inline double edge_mean_bytes(const EdgeRowReads& read, double written) {
  return read.row_bytes == 0 ? 0 : read.entries * (8 + std::max(kSector, read.row_bytes)) + written;
}

/// Bytes that kernels between the layers read and write. A batch norm reads z twice and writes a result; backward it
/// reads z and the gradient twice and writes dz. One behind a map of features may be computed from moments of those:
/// it reads z once, and backward the gradient. A layer norm and ReLU read once what they read.
struct BetweenLayers {
  double norms = 0, residuals = 0, activations = 0;
  double added_gradients = 0;  ///< of residual connections, which the gradients of sums read, and what those write more
};

template <class ValuesOf>
BetweenLayers between_layers_of_stack(const Stack& stack, bool has_moments, const ValuesOf& values_of) {
  BetweenLayers bytes;
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    const StackLayer& layer = stack.layers[i];
    const double values = values_of(i), residual = layer.has_residual ? values : 0;
    if (!layer.inner_norm.empty()) bytes.norms += (i == 0 && has_moments ? 4 : 8) * values;
    if (stack.passes_z()) continue;
    if (i > 0 && layer.attention)  // added to gradients
      bytes.residuals += 3 * residual + (layer.maps_own_rows() ? 3 * values : 0);
    if (i > 0) bytes.added_gradients += residual;
    if (!layer.is_hidden) continue;
    switch (layer.norm.kind) {
      case NormKind::kNone: bytes.activations += 5 * values + residual; break;
      case NormKind::kBatch: bytes.norms += 8 * values, bytes.residuals += 3 * residual; break;
      case NormKind::kLayer: bytes.norms += 5 * values + 2 * residual; break;
    }
  }
  return bytes;
}

/// Of sage-ri, whose layers all have a batch norm, and a residual connection behind it.
template <class ValuesOf>
BetweenLayers between_layers_of_ri(int layers, bool has_moments, const ValuesOf& values_of) {
  BetweenLayers bytes;
  for (int i = 0; i < layers; ++i) bytes.norms += (i == 0 && has_moments ? 2 + 1 : 8 + 1) * values_of(i);
  if (has_moments) bytes.added_gradients += values_of(0);  // masked, beside the gradient itself
  for (int i = 1; i < layers; ++i) bytes.added_gradients += values_of(i);
  return bytes;
}

/// @param has_moments  of the first layer's norm   @param values_of  bytes of a layer's result
template <class ValuesOf>
BetweenLayers between_layers(ModelKind kind, const LayerList& list, bool has_moments, const ValuesOf& values_of) {
  return kind == ModelKind::kSageRi ? between_layers_of_ri(list.num_layers, has_moments, values_of)
                                    : between_layers_of_stack(stack_of(list), has_moments, values_of);
}

/// Of attention over mapped rows; gradients are as many.
struct AttentionBytes {
  double maps = 0, results = 0;
};

/// @param of_own, of_read  bytes of the rows that a layer computes and of those that it reads, by layer and columns
template <class OfOwn, class OfRead>
AttentionBytes attention_bytes(const Stack& stack, const OfOwn& of_own, const OfRead& of_read) {
  AttentionBytes bytes;
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    const StackLayer& layer = stack.layers[i];
    if (!layer.maps_entries()) continue;
    const double columns = padded_columns(layer.out), num_maps = static_cast<double>(layer.maps.size()),
                 num_own = layer.maps_own_rows() ? num_maps / 2 : 0;
    bytes.maps += (num_maps - num_own) * of_read(i, columns) + num_own * of_own(i, columns);
    bytes.results += of_own(i, columns);
  }
  return bytes;
}

}  // namespace salient
