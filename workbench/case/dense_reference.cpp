// workbench/case/dense_reference.cpp - matrix products, norms, gated activations, softmax, merged attention and the
// largest of a row, in double.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "workbench/case/reference.h"

namespace salient::workbench {
namespace {

using Parts = std::vector<ResultPart>;
using RowFunction = Parts (*)(const Problem&, std::size_t row);

std::size_t dim(const Problem& p, std::string_view name) { return static_cast<std::size_t>(p.dim(name)); }

/// c[row, :] = a[row, :] b, where b begins at its row `first_of_b`
Parts matmul_row(const Problem& p, std::size_t row, std::size_t first_of_b) {
  const std::size_t n = dim(p, "n"), k = dim(p, "k"), a = p.index_of("a"), b = p.index_of("b");
  ResultPart part{p.index_of("c"), row * n, std::vector<double>(n), std::vector<double>(n)};
  for (std::size_t t = 0; t < k; ++t) {
    const double left = p.at(a, row * k + t);
    for (std::size_t j = 0; j < n; ++j) {
      const double term = left * p.at(b, (first_of_b + t) * n + j);
      part.value[j] += term;
      part.magnitude[j] += std::abs(term);
    }
  }
  return {part};
}

Parts matmul(const Problem& p, std::size_t row) { return matmul_row(p, row, 0); }
Parts matmul_batched(const Problem& p, std::size_t row) { return matmul_row(p, row, row / dim(p, "m") * dim(p, "k")); }

/// c[i, :] = d[i] b[i, :]
Parts matmul_diagonal(const Problem& p, std::size_t row) {
  const std::size_t n = dim(p, "n");
  ResultPart part{p.index_of("c"), row * n};
  for (std::size_t j = 0; j < n; ++j) part.add(p.at(p.index_of("d"), row) * p.at(p.index_of("b"), row * n + j), 0);
  return {part};
}

/// c[i, j] = sum of a[i, t] b[t, j] over i <= t <= j
Parts matmul_triangular(const Problem& p, std::size_t row) {
  const std::size_t n = dim(p, "n"), a = p.index_of("a"), b = p.index_of("b");
  ResultPart part{p.index_of("c"), row * n, std::vector<double>(n), std::vector<double>(n)};
  for (std::size_t t = row; t < n; ++t) {
    const double left = p.at(a, row * n + t);
    for (std::size_t j = t; j < n; ++j) {
      const double term = left * p.at(b, t * n + j);
      part.value[j] += term;
      part.magnitude[j] += std::abs(term);
    }
  }
  return {part};
}

/// residual += x; x = residual / rms(residual) * weight
Parts fused_add_rmsnorm(const Problem& p, std::size_t row) {
  constexpr double kEps = 1e-6;
  const std::size_t d = dim(p, "d"), x = p.index_of("x"), r = p.index_of("residual"), w = p.index_of("weight");
  ResultPart normed{x, row * d}, sum{r, row * d};
  double squares = 0;
  for (std::size_t j = 0; j < d; ++j) {
    const double a = p.at(x, row * d + j), b = p.at(r, row * d + j);
    sum.add(a + b, std::abs(a) + std::abs(b));
    squares += (a + b) * (a + b);
  }
  const double scale = 1 / std::sqrt(squares / static_cast<double>(d) + kEps);
  for (std::size_t j = 0; j < d; ++j) {
    const double weight = p.at(w, j);
    normed.add(sum.value[j] * scale * weight, sum.magnitude[j] * scale * std::abs(weight));
  }
  return {normed, sum};
}

/// out = silu(x[:, :d]) * x[:, d:]
Parts silu_and_mul(const Problem& p, std::size_t row) {
  const std::size_t d = dim(p, "d"), x = p.index_of("x");
  ResultPart part{p.index_of("out"), row * d};
  for (std::size_t j = 0; j < d; ++j) {
    const double gate = p.at(x, row * 2 * d + j), up = p.at(x, row * 2 * d + d + j);
    const double value = gate / (1 + std::exp(-gate)) * up;
    part.add(value, std::abs(value) * (1 + std::abs(gate)));
  }
  return {part};
}

/// Two partial attention results, weighted by their log-sum-exp. A row is a (token, head) pair.
Parts merge_attn_states(const Problem& p, std::size_t row) {
  const std::size_t d = dim(p, "d"), va = p.index_of("v_a"), vb = p.index_of("v_b");
  const double sa = p.at(p.index_of("s_a"), row), sb = p.at(p.index_of("s_b"), row), top = std::max(sa, sb);
  const double wa = std::exp(sa - top), wb = std::exp(sb - top), total = wa + wb;
  const double slack = 1 + std::abs(sa) + std::abs(sb);  // of exp in a shorter format
  constexpr double kUnderflow = 0x1p-126 / 0x1p-24;      // a weight below the normal numbers of f32 may be zero
  ResultPart v{p.index_of("v_out"), row * d}, s{p.index_of("s_out"), row};
  for (std::size_t j = 0; j < d; ++j) {
    const double left = p.at(va, row * d + j), right = p.at(vb, row * d + j);
    const double a = wa / total * left, b = wb / total * right;
    v.add(a + b, (std::abs(a) + std::abs(b)) * slack + (std::abs(left) + std::abs(right)) * kUnderflow);
  }
  s.add(std::log(total) + top, std::abs(top) + std::log(total) + 1);
  return {v, s};
}

/// loss[i] = log sum exp(z) - z[label]; grad[i, :] = (softmax(z) - onehot) / n
Parts softmax_cross_entropy(const Problem& p, std::size_t row) {
  const std::size_t c = dim(p, "c"), z = p.index_of("logits");
  const double n = static_cast<double>(p.dim("n"));
  const auto label = static_cast<std::size_t>(p.at(p.index_of("labels"), row));
  double top = -std::numeric_limits<double>::infinity(), total = 0, spread = 0;
  for (std::size_t j = 0; j < c; ++j) top = std::max(top, p.at(z, row * c + j));
  for (std::size_t j = 0; j < c; ++j) {
    total += std::exp(p.at(z, row * c + j) - top);
    spread = std::max(spread, top - p.at(z, row * c + j));
  }
  const double of_label = p.at(z, row * c + label);
  ResultPart loss{p.index_of("loss"), row}, grad{p.index_of("grad"), row * c};
  loss.add(std::log(total) + top - of_label, std::log(total) + std::abs(top) + std::abs(of_label) + 1);
  for (std::size_t j = 0; j < c; ++j) {
    const double distance = top - p.at(z, row * c + j);
    const double share = std::exp(-distance) / total, hot = j == label ? 1 : 0;
    grad.add((share - hot) / n, (share * (1 + distance + std::abs(top)) + hot) / n);
  }
  return {loss, grad};
}

/// values[i, :] and places[i, :] of the k largest scores, the smaller place first among equal ones
Parts top_k(const Problem& p, std::size_t row) {
  const std::size_t m = dim(p, "m"), k = dim(p, "k"), scores = p.index_of("scores");
  std::vector<std::size_t> order(m);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p.at(scores, row * m + a) > p.at(scores, row * m + b); });
  ResultPart values{p.index_of("values"), row * k}, places{p.index_of("places"), row * k};
  for (std::size_t j = 0; j < k; ++j) {
    values.add(j < m ? p.at(scores, row * m + order[j]) : 0, 0);
    places.add(j < m ? static_cast<double>(order[j]) : -1, 0);
  }
  return {values, places};
}

class RowWise final : public Reference {
 public:
  RowWise(RowFunction function, const Problem& problem) : function_(function), problem_(problem) {}
  Parts row(std::size_t row) const override { return function_(problem_, row); }

 private:
  RowFunction function_;
  const Problem& problem_;
};

}  // namespace

std::unique_ptr<Reference> make_dense(const std::string& name, const Problem& problem) {
  static const std::map<std::string, RowFunction> functions = {{"matmul", matmul},
                                                               {"matmul_batched", matmul_batched},
                                                               {"matmul_diagonal", matmul_diagonal},
                                                               {"matmul_triangular", matmul_triangular},
                                                               {"fused_add_rmsnorm", fused_add_rmsnorm},
                                                               {"silu_and_mul", silu_and_mul},
                                                               {"merge_attn_states", merge_attn_states},
                                                               {"softmax_cross_entropy", softmax_cross_entropy},
                                                               {"top_k", top_k}};
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : std::make_unique<RowWise>(found->second, problem);
}

}  // namespace salient::workbench
