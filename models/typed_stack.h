// models/typed_stack.h - what models of typed graphs have around their convolutions: rows of one width of all types.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/conv_stack.h"
#include "models/describe/graph_types.h"

namespace salient {

/// A row that is learned for each node of a type: parameter `weight` [num_rows, width], uniform within 1, which is how
/// far a map of features with variance 1 comes.
class LearnedRows : public ParameterOwner {
 public:
  LearnedRows(std::int64_t num_rows, std::int64_t width);
  void initialise(const std::string& name, InitScheme scheme, std::uint32_t seed) override;
  const at::Tensor& weight() const { return weight_; }
  /// From here on backward leaves a sparse gradient: the rows that forward() read, in that order, not the whole table.
  void make_gradients_sparse() { is_sparse_ = true; }
  /// @param ids  int64 [n]        @return  [n, width]
  at::Tensor forward(const at::Tensor& ids) const;
  /// The same where some ids are num_rows or above: nodes that training did not know have the mean of all rows.
  /// Cost: the first call reads all rows. They are those of a trained model: an optimiser's changes would not be seen.
  at::Tensor forward_or_mean(const at::Tensor& ids);

 private:
  at::Tensor weight_;
  bool is_sparse_ = false;
  at::Tensor mean_{};  ///< [width] of the rows in version mean_of_
  std::int64_t mean_of_ = -1;
};

/// A ConvStack behind one row [hidden_dim] of each node: h = W_T x + b_T of its type's features, parameters
/// lin_in.T.weight and .bias, or emb.T.weight, a learned row, where type T has none. A dot of a type's name is '#' in
/// those of parameters, as in PyG's dictionaries. With ModelOptions::activate_input it is D(relu(norm(h))), by norm_in.
/// Norms are over the nodes of all types.
class TypedStack : public ConvStack {
 public:
  TypedStack(const ModelOptions& options, const MakeConv& make_conv);
  InputRows input(const BatchView& batch, const DropoutKey& key) override;

 private:
  struct TypeInput {
    std::int64_t first_node;      ///< of the type, in the ids of the graph
    std::shared_ptr<Linear> map;  ///< or
    std::shared_ptr<LearnedRows> rows;
  };
  std::int64_t width_;
  bool is_activated_;
  std::shared_ptr<Norm> norm_in_;  ///< null: none
  std::vector<TypeInput> types_;
};

}  // namespace salient
