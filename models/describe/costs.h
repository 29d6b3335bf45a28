// models/describe/costs.h - what follows from a model's list: its parameters and its products.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/describe/layer_list.h"

namespace salient {

/// A tensor that training changes.
struct ParameterShape {
  std::string name{};
  std::vector<std::int64_t> shape{};
  bool operator==(const ParameterShape&) const = default;
};

/// In the order of the list. Oracle: make_model(options)->named_parameters()
std::vector<ParameterShape> parameters_of(const LayerList& list);

/// Numbers in them all.
std::int64_t num_parameters(const LayerList& list);

/// Those among them in rows that are learned for nodes.
std::int64_t num_learned(const LayerList& list);

/// Nothing that is trained is before this operation's result.
bool reads_features(const LayerList& list, const Op& op);

/// The sum of a convolution's products of neighbours, of the rows themselves and of edges: one product of joined
/// inputs.
bool is_joined_product(const LayerList& list, const Op& op);

/// A matrix product: of each row, with a weight [out, in].
struct RowProduct {
  int layer = 0;  ///< whose hop has the rows; num_layers = the head, whose rows are the seeds
  RowSet rows = RowSet::kDestinations;
  std::int64_t in = 0, out = 0;
  bool has_bias = false;
  bool reads_features = false;  ///< its input does: training needs no gradient of that
  bool is_added = false;        ///< to the product before it, see is_joined_product()
  double share = 1;             ///< of those rows: of one node type, all types being taken for equally frequent
  int type = kEvery;            ///< the node type whose rows they are
  int relation = kEvery;        ///< whose sums they are: of destinations those alone that have entries of it
};

/// Attention of gat with one head sums rows with weights that are known before: the product in front of it may come
/// behind it, with as many rows as that has. Eager layers compute as listed, resident ones the sums first.
enum class ProductOrder : std::uint8_t { kAsListed, kSumsFirst };

/// In the order of the list.
std::vector<RowProduct> products_of(const LayerList& list, ProductOrder order);

/// A layer has attention: heads are a choice.
bool has_attention(ModelKind kind);

/// The model needs the degrees of a batch's nodes in the whole graph: one of its sums does.
bool reads_degrees(const ModelOptions& options);

/// The model needs the features of a batch's edges: an operation reads them.
bool reads_edge_features(const ModelOptions& options);

/// The model needs the weights of a batch's edges: a sum or attention is by them.
bool reads_edge_weights(const ModelOptions& options);

/// And those of whole rows: the model scales by weighted degrees.
bool reads_row_weights(const ModelOptions& options);

/// What a layer takes over the entries of each row: a sum, a maximum, or attention.
struct RowSum {
  int layer = 0;
  std::int64_t width = 0;
  bool reads_features = false;  ///< what it sums does
  double share = 1;             ///< of the entries: of one relation, all being taken for equally frequent
  int relation = kEvery;        ///< that one
};

/// In the order of the list.
std::vector<RowSum> sums_of(const LayerList& list);

}  // namespace salient
