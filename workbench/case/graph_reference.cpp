// workbench/case/graph_reference.cpp - gather, mean over neighbours, its backward, dropout with ReLU, degree counts.
#include <algorithm>
#include <cmath>

#include "core/philox.h"
#include "workbench/case/reference.h"

namespace salient::workbench {
namespace {

std::size_t dim(const Problem& p, std::string_view name) { return static_cast<std::size_t>(p.dim(name)); }

class GraphReference : public Reference {
 public:
  explicit GraphReference(const Problem& problem) : p_(problem) {}

 protected:
  std::size_t whole(std::size_t buffer, std::size_t index) const {
    return static_cast<std::size_t>(p_.at(buffer, index));
  }
  const Problem& p_;
};

/// out[i, :] = table[index[i], :]
class GatherRows final : public GraphReference {
 public:
  using GraphReference::GraphReference;
  std::vector<ResultPart> row(std::size_t row) const override {
    const std::size_t width = dim(p_, "width"), from = whole(p_.index_of("index"), row), table = p_.index_of("table");
    ResultPart part{p_.index_of("out"), row * width};
    for (std::size_t j = 0; j < width; ++j) {
      part.add(p_.at(table, from * width + j), 0);
      part.bits.push_back(p_.bits_at(table, from * width + j));
    }
    return {part};
  }
};

/// out[i, :] = mean of x[indices[e], :] over the row's edges; zeros for a row without edges
class GatherMean final : public GraphReference {
 public:
  using GraphReference::GraphReference;
  std::vector<ResultPart> row(std::size_t row) const override {
    const std::size_t width = dim(p_, "width"), indptr = p_.index_of("indptr"), indices = p_.index_of("indices");
    const std::size_t x = p_.index_of("x"), begin = whole(indptr, row), end = whole(indptr, row + 1);
    ResultPart part{p_.index_of("out"), row * width, std::vector<double>(width), std::vector<double>(width)};
    for (std::size_t e = begin; e < end; ++e)
      for (std::size_t j = 0; j < width; ++j) {
        const double term = p_.at(x, whole(indices, e) * width + j) / static_cast<double>(end - begin);
        part.value[j] += term;
        part.magnitude[j] += std::abs(term) * growth_of_errors(end - begin);
      }
    return {part};
  }
};

/// y[i, :] = wl mean of x over the row's entries + wr x[i] + bias
class SageLayerForward final : public GraphReference {
 public:
  using GraphReference::GraphReference;
  std::vector<ResultPart> row(std::size_t row) const override {
    const std::size_t in = dim(p_, "in"), out = dim(p_, "out"), x = p_.index_of("x");
    const std::size_t indptr = p_.index_of("indptr"), indices = p_.index_of("indices");
    const std::size_t begin = whole(indptr, row), end = whole(indptr, row + 1);
    std::vector<double> mean(in), of_terms(in);
    for (std::size_t e = begin; e < end; ++e)
      for (std::size_t t = 0; t < in; ++t) {
        const double term = p_.at(x, whole(indices, e) * in + t) / static_cast<double>(end - begin);
        mean[t] += term;
        of_terms[t] += std::abs(term) * growth_of_errors(end - begin);
      }
    ResultPart part{p_.index_of("y"), row * out};
    for (std::size_t j = 0; j < out; ++j) {
      double value = p_.at(p_.index_of("bias"), j), magnitude = std::abs(value);
      for (std::size_t t = 0; t < in; ++t) {
        const double left = p_.at(p_.index_of("wl"), j * in + t), right = p_.at(p_.index_of("wr"), j * in + t);
        const double own = right * p_.at(x, row * in + t);
        value += left * mean[t] + own;
        magnitude += std::abs(left) * of_terms[t] + std::abs(own);
      }
      part.add(value, magnitude);
    }
    return {part};
  }
};

/// Edges by their source: what a backward pass of a mean or of attention goes through.
struct EdgesBySource {
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> of;  ///< [source] (edge, destination)

  EdgesBySource(const Problem& p, std::size_t num_sources) : of(num_sources) {
    const std::size_t indptr = p.index_of("indptr"), indices = p.index_of("indices");
    for (std::size_t i = 0; i + 1 < p.elements(indptr); ++i)
      for (auto e = static_cast<std::size_t>(p.at(indptr, i)); e < static_cast<std::size_t>(p.at(indptr, i + 1)); ++e)
        of[static_cast<std::size_t>(p.at(indices, e))].emplace_back(e, i);
  }
};

/// grad_x[v, :] = sum of grad_out[i, :] / degree(i) over the edges (v -> i)
class SegmentMeanBackward final : public GraphReference {
 public:
  explicit SegmentMeanBackward(const Problem& problem)
      : GraphReference(problem), edges_(problem, dim(problem, "sources")) {}
  std::vector<ResultPart> row(std::size_t row) const override {
    const std::size_t width = dim(p_, "width"), indptr = p_.index_of("indptr"), grad = p_.index_of("grad_out");
    ResultPart part{p_.index_of("grad_x"), row * width, std::vector<double>(width), std::vector<double>(width)};
    for (const auto& [edge, to] : edges_.of[row]) {
      const double share = 1 / static_cast<double>(whole(indptr, to + 1) - whole(indptr, to));
      for (std::size_t j = 0; j < width; ++j) {
        const double term = p_.at(grad, to * width + j) * share;
        part.value[j] += term;
        part.magnitude[j] += std::abs(term) * growth_of_errors(edges_.of[row].size());
      }
    }
    return {part};
  }

 private:
  EdgesBySource edges_;
};

/// out_degree[v] = number of edges that leave v
class OutDegrees final : public GraphReference {
 public:
  explicit OutDegrees(const Problem& problem) : GraphReference(problem), edges_(problem, dim(problem, "sources")) {}
  std::vector<ResultPart> row(std::size_t row) const override {
    ResultPart part{p_.index_of("out_degree"), row};
    part.add(static_cast<double>(edges_.of[row].size()), 0);
    return {part};
  }

 private:
  EdgesBySource edges_;
};

/// relu(x) where the mask keeps it, scaled; the draws are those of models/kernels/dropout.h
class DropoutRelu final : public GraphReference {
 public:
  using GraphReference::GraphReference;
  std::vector<ResultPart> row(std::size_t row) const override {
    const std::size_t columns = dim(p_, "columns"), x = p_.index_of("x");
    const auto node = static_cast<std::uint32_t>(p_.at(p_.index_of("nodes"), row));
    const auto seed = static_cast<std::uint32_t>(p_.dim("seed")), step = static_cast<std::uint32_t>(p_.dim("step"));
    const auto threshold = static_cast<std::uint32_t>(p_.dim("threshold"));
    const double scale = threshold >= 65536 ? 0.0 : 65536.0 / (65536.0 - threshold);
    ResultPart part{p_.index_of("out"), row * columns};
    for (std::uint32_t j = 0; j < columns; ++j) {
      const PhiloxBlock draws = philox4x32({{seed, step}}, {{node, j / 8, 0, 0x44524F50}});
      const bool is_kept = (draws.word[j % 8 / 2] >> (j % 2 * 16) & 0xFFFF) >= threshold;
      const double value = is_kept ? std::max(0.0, p_.at(x, row * columns + j)) * scale : 0;
      part.add(value, std::abs(value));
    }
    return {part};
  }
};

}  // namespace

std::unique_ptr<Reference> make_graph(const std::string& name, const Problem& problem) {
  if (name == "gather_rows") return std::make_unique<GatherRows>(problem);
  if (name == "gather_mean") return std::make_unique<GatherMean>(problem);
  if (name == "sage_layer_forward") return std::make_unique<SageLayerForward>(problem);
  if (name == "segment_mean_backward") return std::make_unique<SegmentMeanBackward>(problem);
  if (name == "out_degrees") return std::make_unique<OutDegrees>(problem);
  if (name == "dropout_relu") return std::make_unique<DropoutRelu>(problem);
  return nullptr;
}

}  // namespace salient::workbench
