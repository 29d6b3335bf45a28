// engine/paths/path_pass.cpp - see path_pass.h.
#include "engine/paths/path_pass.h"

#include <algorithm>
#include <cmath>

#include "engine/paths/relational_sum.h"
#include "engine/rank/ordered_product.h"

namespace salient {
namespace {

constexpr float kNormEpsilon = 1e-5F;

/// [rows, columns] row after row, and the same turned.
MatrixView plain(const float* data, std::int64_t row) { return {data, row, 1}; }
MatrixView turned(const float* data, std::int64_t row) { return {data, 1, row}; }

/// sums[k] += the sum of a column, row after row.
void add_columns(const float* rows, std::int64_t count, std::int64_t width, float* sums) {
  for (std::int64_t v = 0; v < count; ++v)
    for (std::int64_t k = 0; k < width; ++k) sums[k] += rows[v * width + k];
}

void add(const float* from, std::int64_t count, float* to) {
  for (std::int64_t k = 0; k < count; ++k) to[k] += from[k];
}

/// A row less its mean, over its standard deviation. @return 1 / that deviation
float normalise(float* row, std::int64_t width) {
  float sum = 0, squares = 0;
  for (std::int64_t k = 0; k < width; ++k) sum += row[k];
  const float mean = sum / static_cast<float>(width);
  for (std::int64_t k = 0; k < width; ++k) {
    row[k] -= mean;
    squares += row[k] * row[k];
  }
  const float scale = 1 / std::sqrt(squares / static_cast<float>(width) + kNormEpsilon);
  for (std::int64_t k = 0; k < width; ++k) row[k] *= scale;
  return scale;
}

}  // namespace

void PathPass::resize(std::size_t num_nodes) {
  const auto layers = static_cast<std::size_t>(parameters_->shape.layers);
  const std::size_t size = num_nodes * static_cast<std::size_t>(width());
  num_nodes_ = static_cast<std::int64_t>(num_nodes);
  rows_.resize(layers + 1);
  layers_.resize(layers);
  for (std::vector<float>& rows : rows_) rows.resize(size);
  for (Layer& layer : layers_) {
    layer.sums.resize(size);
    layer.normed.resize(size);
    layer.deviations.resize(num_nodes);
  }
  hidden_.resize(2 * size);
  scores_.resize(num_nodes);
}

/// What a node's messages are multiplied by: 1, or one over their number, the query's own counted at every node.
float PathPass::share_of(const PathGraph& graph, std::size_t v) const {
  if (parameters_->shape.sum == PathSum::kSum) return 1;
  return 1 / static_cast<float>(1 + graph.begin[v + 1] - graph.begin[v]);
}

std::span<const float> PathPass::forward(const PathGraph& graph, const PathInput& input) {
  resize(graph.num_nodes());
  std::ranges::fill(rows_[0], 0.F);
  std::copy_n(input.query, width(), rows_[0].data() + std::int64_t{input.head} * width());
  for (std::size_t l = 0; l < layers_.size(); ++l) add_layer(graph, input, l);
  score(input);
  return scores_;
}

void PathPass::add_layer(const PathGraph& graph, const PathInput& input, std::size_t l) {
  const std::int64_t d = width();
  const PathLayerPlaces& place = parameters_->places.layers[l];
  const float* const relations = input.relations + static_cast<std::int64_t>(l) * parameters_->shape.relation_width();
  auto& [sums, normed, deviations] = layers_[l];
  relational_sum(graph, d, rows_[l].data(), relations, sums.data());
  add(input.query, d, sums.data() + std::int64_t{input.head} * d);
  for (std::int64_t v = 0; v < num_nodes_; ++v) {
    if (const float share = share_of(graph, static_cast<std::size_t>(v)); share != 1)
      for (std::int64_t k = 0; k < d; ++k) sums[static_cast<std::size_t>(v * d + k)] *= share;
    std::copy_n(at(place.linear_bias), d, normed.data() + v * d);
  }
  const ProductSize size{num_nodes_, d, d};
  ordered_product(size, plain(rows_[l].data(), d), turned(at(place.linear), 2 * d), normed.data(), d, true);
  ordered_product(size, plain(sums.data(), d), turned(at(place.linear) + d, 2 * d), normed.data(), d, true);
  for (std::int64_t v = 0; v < num_nodes_; ++v) {
    float* const row = normed.data() + v * d;
    deviations[static_cast<std::size_t>(v)] = normalise(row, d);
    const float* const before = rows_[l].data() + v * d;
    float* const next = rows_[l + 1].data() + v * d;
    for (std::int64_t k = 0; k < d; ++k)
      next[k] = before[k] + std::max(0.F, row[k] * at(place.norm)[k] + at(place.norm_bias)[k]);
  }
}

void PathPass::score(const PathInput& input) {
  const std::int64_t d = width(), wide = 2 * d;
  const PathPlaces& places = parameters_->places;
  std::vector<float> shift(at(places.hidden_bias), at(places.hidden_bias) + wide);  // alike for all nodes
  ordered_product({1, wide, d}, plain(input.query, d), turned(at(places.hidden) + d, wide), shift.data(), wide, true);
  for (std::int64_t v = 0; v < num_nodes_; ++v) std::ranges::copy(shift, hidden_.data() + v * wide);
  ordered_product({num_nodes_, wide, d}, plain(rows_.back().data(), d), turned(at(places.hidden), wide), hidden_.data(),
                  wide, true);
  for (float& value : hidden_) value = std::max(0.F, value);
  std::ranges::fill(scores_, *at(places.score_bias));
  ordered_product({num_nodes_, 1, wide}, plain(hidden_.data(), wide), turned(at(places.score), wide), scores_.data(), 1,
                  true);
}

void PathPass::backward(const PathGraph& graph, const PathInput& input, std::span<const float> scores,
                        const PathGradients& gradients) {
  for (std::vector<float>* rows : {&row_gradients_, &inner_gradients_, &sum_gradients_}) rows->resize(rows_[0].size());
  score_backward(input, scores, gradients);
  for (std::size_t l = layers_.size(); l-- > 0;) layer_backward(graph, input, l, gradients);
  add(row_gradients_.data() + std::int64_t{input.head} * width(), width(), gradients.query);
}

void PathPass::score_backward(const PathInput& input, std::span<const float> scores, const PathGradients& gradients) {
  const std::int64_t d = width(), wide = 2 * d;
  const PathPlaces& places = parameters_->places;
  for (std::int64_t v = 0; v < num_nodes_; ++v) {
    const float gradient = scores[static_cast<std::size_t>(v)];
    float* const row = hidden_.data() + v * wide;
    gradients.parameters[places.score_bias] += gradient;
    for (std::int64_t k = 0; k < wide; ++k) {
      gradients.parameters[places.score + static_cast<std::size_t>(k)] += gradient * row[k];
      row[k] = row[k] > 0 ? gradient * at(places.score)[k] : 0;
    }
  }
  std::vector<float> shift(static_cast<std::size_t>(wide));
  add_columns(hidden_.data(), num_nodes_, wide, shift.data());
  add(shift.data(), wide, gradients.parameters + places.hidden_bias);
  float* const weights = gradients.parameters + places.hidden;
  for (std::int64_t j = 0; j < wide; ++j)
    for (std::int64_t k = 0; k < d; ++k) {
      weights[j * wide + d + k] += shift[static_cast<std::size_t>(j)] * input.query[k];
      gradients.query[k] += shift[static_cast<std::size_t>(j)] * at(places.hidden)[j * wide + d + k];
    }
  ordered_product({wide, d, num_nodes_}, turned(hidden_.data(), wide), plain(rows_.back().data(), d), weights, wide,
                  true);
  ordered_product({num_nodes_, d, wide}, plain(hidden_.data(), wide), plain(at(places.hidden), wide),
                  row_gradients_.data(), d);
}

/// inner_gradients_: of what the norm is of, from those of what it gives.
void PathPass::norm_backward(std::size_t l, float* gradients) {
  const std::int64_t d = width();
  const PathLayerPlaces& place = parameters_->places.layers[l];
  const Layer& layer = layers_[l];
  for (std::int64_t v = 0; v < num_nodes_; ++v) {
    const float *const above = row_gradients_.data() + v * d, *const normed = layer.normed.data() + v * d;
    float* const inner = inner_gradients_.data() + v * d;
    float mean = 0, slope = 0;
    for (std::int64_t k = 0; k < d; ++k) {
      const float gradient = normed[k] * at(place.norm)[k] + at(place.norm_bias)[k] > 0 ? above[k] : 0;
      gradients[place.norm + static_cast<std::size_t>(k)] += gradient * normed[k];
      gradients[place.norm_bias + static_cast<std::size_t>(k)] += gradient;
      inner[k] = gradient * at(place.norm)[k];
      mean += inner[k];
      slope += inner[k] * normed[k];
    }
    mean /= static_cast<float>(d);
    slope /= static_cast<float>(d);
    const float scale = layer.deviations[static_cast<std::size_t>(v)];
    for (std::int64_t k = 0; k < d; ++k) inner[k] = scale * (inner[k] - mean - normed[k] * slope);
  }
}

void PathPass::layer_backward(const PathGraph& graph, const PathInput& input, std::size_t l,
                              const PathGradients& gradients) {
  const std::int64_t d = width(), of_layer = static_cast<std::int64_t>(l) * parameters_->shape.relation_width();
  const PathLayerPlaces& place = parameters_->places.layers[l];
  norm_backward(l, gradients.parameters);
  add_columns(inner_gradients_.data(), num_nodes_, d, gradients.parameters + place.linear_bias);
  float* const weights = gradients.parameters + place.linear;
  const ProductSize of_weights{d, d, num_nodes_}, of_rows{num_nodes_, d, d};
  const MatrixView inner = plain(inner_gradients_.data(), d), across = turned(inner_gradients_.data(), d);
  ordered_product(of_weights, across, plain(rows_[l].data(), d), weights, 2 * d, true);
  ordered_product(of_weights, across, plain(layers_[l].sums.data(), d), weights + d, 2 * d, true);
  ordered_product(of_rows, inner, plain(at(place.linear) + d, 2 * d), sum_gradients_.data(), d);
  ordered_product(of_rows, inner, plain(at(place.linear), 2 * d), row_gradients_.data(), d, true);
  for (std::int64_t v = 0; v < num_nodes_; ++v)
    if (const float share = share_of(graph, static_cast<std::size_t>(v)); share != 1)
      for (std::int64_t k = 0; k < d; ++k) sum_gradients_[static_cast<std::size_t>(v * d + k)] *= share;
  add(sum_gradients_.data() + std::int64_t{input.head} * d, d, gradients.query);
  relational_sum_backward(graph, d, rows_[l].data(), input.relations + of_layer,
                          {sum_gradients_.data(), row_gradients_.data(), gradients.relations + of_layer});
}

}  // namespace salient
