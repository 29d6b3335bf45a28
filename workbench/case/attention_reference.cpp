// workbench/case/attention_reference.cpp - gradients of attention over sampled edges, in double precision: of GATv2's
// logits, and of a weighted sum. The edges are those of models/kernels/attention_edges.h.
#include <algorithm>
#include <cmath>

#include "workbench/case/reference.h"

namespace salient::workbench {
namespace {

constexpr double kSlope = 0.2;

struct Edge {
  std::size_t id, source, destination;
};

/// Row i's edges are indptr[i] + i to indptr[i + 1] + i; the last one is its own, others from itself are masked.
class AttentionReference : public Reference {
 public:
  explicit AttentionReference(const Problem& problem)
      : p_(problem),
        heads_(static_cast<std::size_t>(p_.dim("heads"))),
        channels_(static_cast<std::size_t>(p_.dim("channels"))),
        destinations_(static_cast<std::size_t>(p_.dim("rows"))),
        sources_(destinations_ + static_cast<std::size_t>(p_.dim("others"))),
        from_(sources_),
        to_(destinations_) {
    const std::size_t indptr = p_.index_of("indptr"), indices = p_.index_of("indices");
    for (std::size_t d = 0; d < destinations_; ++d) {
      const auto end = static_cast<std::size_t>(p_.at(indptr, d + 1));
      for (auto e = static_cast<std::size_t>(p_.at(indptr, d)); e < end; ++e)
        if (const auto source = static_cast<std::size_t>(p_.at(indices, e)); source != d) add({e + d, source, d});
      add({end + d, d, d});
    }
  }

 protected:
  const Problem& p_;
  std::size_t heads_, channels_, destinations_, sources_;
  std::vector<std::vector<Edge>> from_, to_;  ///< [source], [destination]: edges that are not masked
  std::size_t num_edges_ = 0;

 private:
  void add(const Edge& edge) {
    from_[edge.source].push_back(edge);
    to_[edge.destination].push_back(edge);
    ++num_edges_;
  }
};

/// Rows: the sources, then the destinations, then one for the gradient of att.
class Gatv2Backward final : public AttentionReference {
 public:
  using AttentionReference::AttentionReference;

  std::vector<ResultPart> row(std::size_t row) const override {
    const std::size_t width = heads_ * channels_;
    ResultPart part{0, 0, std::vector<double>(width), std::vector<double>(width)};
    if (row < sources_) {
      part.buffer = p_.index_of("grad_src");
      part.first = row * width;
      add_inputs(from_[row], part);
    } else if (row < sources_ + destinations_) {
      part.buffer = p_.index_of("grad_dst");
      part.first = (row - sources_) * width;
      add_inputs(to_[row - sources_], part);
    } else {
      part.buffer = p_.index_of("grad_att");
      for (const std::vector<Edge>& edges : to_)
        for (const Edge& edge : edges) add_att(edge, part);
    }
    return {part};
  }

 private:
  double raw(const Edge& edge, std::size_t column) const {
    const std::size_t width = heads_ * channels_;
    // As the kernels add: the sign of the sum decides the slope, so it is rounded to f32 as theirs.
    return double{static_cast<float>(p_.at(z_src_, edge.source * width + column) +
                                     p_.at(z_dst_, edge.destination * width + column))};
  }

  void add_inputs(const std::vector<Edge>& edges, ResultPart& part) const {
    for (const Edge& edge : edges)
      for (std::size_t column = 0; column < part.value.size(); ++column) {
        const double slope = raw(edge, column) > 0 ? 1 : kSlope;
        const double term = p_.at(grad_, edge.id * heads_ + column / channels_) * p_.at(att_, column) * slope;
        part.value[column] += term;
        part.magnitude[column] += std::abs(term) * growth_of_errors(edges.size());
      }
  }

  void add_att(const Edge& edge, ResultPart& part) const {
    for (std::size_t column = 0; column < part.value.size(); ++column) {
      const double x = raw(edge, column);
      const double term = p_.at(grad_, edge.id * heads_ + column / channels_) * (x > 0 ? x : kSlope * x);
      part.value[column] += term;
      part.magnitude[column] += std::abs(term) * growth_of_errors(num_edges_);
    }
  }

  std::size_t z_src_ = p_.index_of("z_src"), z_dst_ = p_.index_of("z_dst"), att_ = p_.index_of("att"),
              grad_ = p_.index_of("grad_logits");
};

/// Rows: the sources, whose gradient of h it is, then the destinations with the gradients of their edges' weights.
class AttentionBackward final : public AttentionReference {
 public:
  using AttentionReference::AttentionReference;

  std::vector<ResultPart> row(std::size_t row) const override {
    if (row < sources_) return {grad_h(row)};
    const std::size_t d = row - sources_, indptr = p_.index_of("indptr");
    const std::size_t first = static_cast<std::size_t>(p_.at(indptr, d)) + d,
                      end = static_cast<std::size_t>(p_.at(indptr, d + 1)) + d + 1;
    ResultPart part{p_.index_of("grad_weights"), first * heads_, std::vector<double>((end - first) * heads_),
                    std::vector<double>((end - first) * heads_)};
    for (const Edge& edge : to_[d])
      for (std::size_t j = 0; j < heads_ * channels_; ++j) {
        const double term = p_.at(grad_, d * heads_ * channels_ + j) * p_.at(h_, edge.source * heads_ * channels_ + j);
        part.value[(edge.id - first) * heads_ + j / channels_] += term;
        part.magnitude[(edge.id - first) * heads_ + j / channels_] += std::abs(term) * growth_of_errors(channels_);
      }
    return {part};
  }

 private:
  ResultPart grad_h(std::size_t source) const {
    const std::size_t width = heads_ * channels_;
    ResultPart part{p_.index_of("grad_h"), source * width, std::vector<double>(width), std::vector<double>(width)};
    for (const Edge& edge : from_[source])
      for (std::size_t j = 0; j < width; ++j) {
        const double term =
            p_.at(weights_, edge.id * heads_ + j / channels_) * p_.at(grad_, edge.destination * width + j);
        part.value[j] += term;
        part.magnitude[j] += std::abs(term) * growth_of_errors(from_[source].size());
      }
    return part;
  }

  std::size_t weights_ = p_.index_of("weights"), h_ = p_.index_of("h"), grad_ = p_.index_of("grad_out");
};

/// out[i, k, :] = sum of weights[e, k] h[s, k, :] over the edges of row i
class GatAggregate final : public AttentionReference {
 public:
  using AttentionReference::AttentionReference;

  std::vector<ResultPart> row(std::size_t row) const override {
    const std::size_t width = heads_ * channels_, weights = p_.index_of("weights"), h = p_.index_of("h");
    ResultPart part{p_.index_of("out"), row * width, std::vector<double>(width), std::vector<double>(width)};
    for (const Edge& edge : to_[row])
      for (std::size_t j = 0; j < width; ++j) {
        const double term = p_.at(weights, edge.id * heads_ + j / channels_) * p_.at(h, edge.source * width + j);
        part.value[j] += term;
        part.magnitude[j] += std::abs(term) * growth_of_errors(to_[row].size());
      }
    return {part};
  }
};

}  // namespace

std::unique_ptr<Reference> make_attention(const std::string& name, const Problem& problem) {
  if (name == "gatv2_backward") return std::make_unique<Gatv2Backward>(problem);
  if (name == "attention_backward") return std::make_unique<AttentionBackward>(problem);
  if (name == "gat_aggregate") return std::make_unique<GatAggregate>(problem);
  return nullptr;
}

}  // namespace salient::workbench
