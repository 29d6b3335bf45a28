// models/describe/stack.h - the list of a stack of convolutions (models/conv_stack.h), layer by layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/describe/layer_list.h"

namespace salient {

/// x W^T + b. Parameter names as in Project.
struct LinearMap {
  std::string weight{}, bias{};
  std::int64_t in = 0, out = 0;
  bool operator==(const LinearMap&) const = default;
};

/// D(relu(norm(convolution(h) + R(h)))), or the convolution alone.
struct StackLayer {
  std::int64_t in = 0, out = 0;  ///< columns of h and of the result

  // the convolution: a sum, a maximum (neither of both) or attention, and products
  std::optional<Aggregate> sum{};
  std::optional<Aggregate> edge_sum{};  ///< beside the sum, over the features of edges
  std::optional<Attend> attention{};
  std::vector<LinearMap> maps{};
  bool is_joined = false;    ///< of the sum, the rows themselves and edge_sum, added up: is_joined_product()
  std::string inner_norm{};  ///< a batch norm with ReLU between two maps; "" = none

  // around it
  bool is_hidden = false;  ///< false: nothing, the result are the logits
  bool has_residual = false;
  std::optional<LinearMap> residual{};  ///< none: the identity
  Normalise norm{.kind = NormKind::kNone};
  std::optional<std::uint32_t> dropout{};  ///< Drop::stream

  /// A map of every entry's row comes before attention. Of gat with one head the sum of rows is mapped.
  bool maps_entries() const { return attention && (attention->kind != AttentionKind::kGat || attention->heads > 1); }
  /// It maps the rows of the nodes that it computes by other weights, too.
  bool maps_own_rows() const { return maps_entries() && attention->kind != AttentionKind::kGat; }
};

struct Stack {
  std::vector<StackLayer> layers{};
  std::optional<CombineKind> jumping{};         ///< kConcat or kMax: what the head reads of all layers; none: the last
  std::vector<LinearMap> head{};                ///< none: the last layer gives the logits
  std::optional<std::uint32_t> head_dropout{};  ///< behind ReLU, between two maps of the head

  /// Nothing is around the convolutions but ReLU and dropout.
  bool is_plain() const;
  /// It is plain, and a layer reads z of the one before: maps of every entry would compute ReLU once an entry. The
  /// kernel of gatv2 with one head writes activated rows itself.
  bool passes_z() const;
};

/// @param list  describe() of a model that is a stack, any but sage-ri
Stack stack_of(const LayerList& list);

}  // namespace salient
