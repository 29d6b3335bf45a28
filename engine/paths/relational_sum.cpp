// engine/paths/relational_sum.cpp - see relational_sum.h.
#include "engine/paths/relational_sum.h"

#include <immintrin.h>

#include <cstddef>
#include <type_traits>

#include "core/error.h"

namespace salient {
namespace {

constexpr std::size_t kLanes = 8;

/// A product's operands at some columns; rows are `width` apart.
struct Operands {
  const PathGraph& graph;
  std::int64_t width;
  const float* x;
  const float* relations;

  const float* x_row(std::size_t v) const { return x + static_cast<std::int64_t>(v) * width; }
  const float* relation_row(std::uint32_t r) const { return relations + std::int64_t{r} * width; }
};

/// kVectors * 8 columns from `first` on stay in registers while a row's entries are added.
template <std::size_t kVectors>
void sum_columns(const Operands& in, std::int64_t first, float* out) {
  for (std::size_t v = 0; v < in.graph.num_nodes(); ++v) {
    __m256 sum[kVectors];
    for (auto& one : sum) one = _mm256_setzero_ps();
    for (const auto& [node, relation] : in.graph.row(v)) {
      const float *const x = in.x_row(node) + first, *const w = in.relation_row(relation) + first;
      for (std::size_t i = 0; i < kVectors; ++i)
        sum[i] = _mm256_fmadd_ps(_mm256_loadu_ps(x + i * kLanes), _mm256_loadu_ps(w + i * kLanes), sum[i]);
    }
    float* const row = out + static_cast<std::int64_t>(v) * in.width + first;
    for (std::size_t i = 0; i < kVectors; ++i) _mm256_storeu_ps(row + i * kLanes, sum[i]);
  }
}

template <std::size_t kVectors>
void sum_columns_backward(const Operands& in, std::int64_t first, const RelationalGradients& gradients) {
  for (std::size_t v = 0; v < in.graph.num_nodes(); ++v) {
    __m256 sum[kVectors], own[kVectors];
    for (std::size_t i = 0; i < kVectors; ++i) {
      sum[i] = _mm256_setzero_ps();
      own[i] = _mm256_loadu_ps(in.x_row(v) + first + i * kLanes);
    }
    for (const auto& [node, relation] : in.graph.row(v)) {
      const std::uint32_t back = in.graph.reverse_of[relation];
      const float* const from = gradients.of_sums + std::int64_t{node} * in.width + first;
      const float* const w = in.relation_row(back) + first;
      float* const to = gradients.of_relations + std::int64_t{back} * in.width + first;
      for (std::size_t i = 0; i < kVectors; ++i) {
        const __m256 gradient = _mm256_loadu_ps(from + i * kLanes);
        sum[i] = _mm256_fmadd_ps(gradient, _mm256_loadu_ps(w + i * kLanes), sum[i]);
        _mm256_storeu_ps(to + i * kLanes, _mm256_fmadd_ps(gradient, own[i], _mm256_loadu_ps(to + i * kLanes)));
      }
    }
    float* const row = gradients.of_x + static_cast<std::int64_t>(v) * in.width + first;
    for (std::size_t i = 0; i < kVectors; ++i)
      _mm256_storeu_ps(row + i * kLanes, _mm256_add_ps(_mm256_loadu_ps(row + i * kLanes), sum[i]));
  }
}

/// Calls use(vectors, first) for columns of 32, and for what is left.
template <class Use>
void for_each_column_block(std::int64_t width, Use use) {
  constexpr auto kStep = static_cast<std::int64_t>(kLanes);
  require(width % kStep == 0, "a width that is a multiple of 8");
  std::int64_t first = 0;
  for (; first + 4 * kStep <= width; first += 4 * kStep) use(std::integral_constant<std::size_t, 4>(), first);
  for (; first < width; first += kStep) use(std::integral_constant<std::size_t, 1>(), first);
}

}  // namespace

void relational_sum(const PathGraph& graph, std::int64_t width, const float* x, const float* relations, float* out) {
  const Operands in{graph, width, x, relations};
  for_each_column_block(width, [&](auto vectors, std::int64_t first) { sum_columns<vectors()>(in, first, out); });
}

void relational_sum_backward(const PathGraph& graph, std::int64_t width, const float* x, const float* relations,
                             const RelationalGradients& gradients) {
  const Operands in{graph, width, x, relations};
  for_each_column_block(
      width, [&](auto vectors, std::int64_t first) { sum_columns_backward<vectors()>(in, first, gradients); });
}

}  // namespace salient
