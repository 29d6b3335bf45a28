// engine/paths/path_pass.h - one pass over the whole graph: every entity's score as the answer of one question.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"
#include "engine/paths/path_graph.h"
#include "engine/paths/path_parameters.h"

namespace salient {

/// What is asked for: the tails of a head and a relation.
struct PathQuestion {
  NodeId head = 0;
  std::uint32_t relation = 0;

  auto operator<=>(const PathQuestion&) const = default;
};

/// A question as rows.
struct PathInput {
  NodeId head = 0;
  const float* query = nullptr;      ///< [d] of its relation
  const float* relations = nullptr;  ///< [layers, R, d] the relations' rows of this query
};

/// Gradients of a loss by one question, all added to.
struct PathGradients {
  float* parameters;  ///< [places.local_size]
  float* query;       ///< [d]
  float* relations;   ///< [layers, R, d]
};

/// The form of neural Bellman-Ford networks (Zhu et al., NeurIPS 2021): the head's row begins as the query's, all
/// others as 0; a layer adds up each node's messages, a neighbour's row times the relation's, and the head's own query,
/// then h + relu(norm(W [h, sum] + b)); a perceptron scores the last rows beside the query.
///
/// Holds the rows of one pass: 3 layers + 6 times [nodes, d]. Threads: one call at a time, on the caller's oneTBB
/// arena; equal bits for any number of threads (ordered_product.h).
class PathPass {
 public:
  explicit PathPass(const PathParameters& parameters) : parameters_(&parameters) {}

  /// @return [nodes], valid until the next call
  std::span<const float> forward(const PathGraph& graph, const PathInput& input);

  /// Of the forward pass before, with the same arguments. @param scores  [nodes] the loss's gradients by the scores
  void backward(const PathGraph& graph, const PathInput& input, std::span<const float> scores,
                const PathGradients& gradients);

 private:
  struct Layer {
    std::vector<float> sums{};        ///< [nodes, d]
    std::vector<float> normed{};      ///< [nodes, d] before scale and shift
    std::vector<float> deviations{};  ///< [nodes] 1 / standard deviation
  };
  const float* at(std::size_t place) const { return parameters_->values.data() + place; }
  std::int64_t width() const { return parameters_->shape.hidden; }
  void resize(std::size_t num_nodes);
  float share_of(const PathGraph& graph, std::size_t v) const;
  void add_layer(const PathGraph& graph, const PathInput& input, std::size_t l);
  void score(const PathInput& input);
  void score_backward(const PathInput& input, std::span<const float> scores, const PathGradients& gradients);
  void norm_backward(std::size_t l, float* gradients);
  void layer_backward(const PathGraph& graph, const PathInput& input, std::size_t l, const PathGradients& gradients);

  const PathParameters* parameters_;
  std::int64_t num_nodes_ = 0;
  std::vector<std::vector<float>> rows_{};  ///< [layers + 1] of [nodes, d]
  std::vector<Layer> layers_{};
  std::vector<float> hidden_{};           ///< [nodes, 2 d] behind relu; its gradients in backward()
  std::vector<float> scores_{};           ///< [nodes]
  std::vector<float> row_gradients_{};    ///< [nodes, d]
  std::vector<float> inner_gradients_{};  ///< [nodes, d] of a layer's product
  std::vector<float> sum_gradients_{};    ///< [nodes, d]
};

}  // namespace salient
