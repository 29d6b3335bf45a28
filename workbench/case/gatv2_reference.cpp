// workbench/case/gatv2_reference.cpp - gradients of GATv2's logits, in double precision.
//
// logit[e, h] = sum over c of att[h, c] * leaky(z_src[s, h, c] + z_dst[d, h, c]) for the edge e from s to d, leaky(x)
// = x or
// x / 5 below 0. Rows: the sources, then the destinations, then one for the gradient of att.
#include <algorithm>
#include <cmath>

#include "workbench/case/reference.h"

namespace salient::workbench {
namespace {

constexpr double kSlope = 0.2;

/// Errors of a sum grow with the number of its terms, which differs from row to row here.
double growth(std::size_t terms) { return 1 + static_cast<double>(terms) / 16; }

struct Edge {
  std::size_t id, source, destination;
};

class Gatv2Backward final : public Reference {
 public:
  explicit Gatv2Backward(const Problem& problem)
      : p_(problem),
        heads_(static_cast<std::size_t>(p_.dim("heads"))),
        channels_(static_cast<std::size_t>(p_.dim("channels"))),
        sources_(static_cast<std::size_t>(p_.dim("sources"))),
        destinations_(static_cast<std::size_t>(p_.dim("rows"))),
        from_(sources_),
        to_(destinations_),
        z_src_(p_.index_of("z_src")),
        z_dst_(p_.index_of("z_dst")),
        att_(p_.index_of("att")),
        grad_(p_.index_of("grad_logits")) {
    const std::size_t indptr = p_.index_of("indptr"), indices = p_.index_of("indices");
    for (std::size_t d = 0; d < destinations_; ++d)
      for (auto e = static_cast<std::size_t>(p_.at(indptr, d)); e < static_cast<std::size_t>(p_.at(indptr, d + 1));
           ++e) {
        const Edge edge{e, static_cast<std::size_t>(p_.at(indices, e)), d};
        from_[edge.source].push_back(edge);
        to_[d].push_back(edge);
      }
  }

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
        part.magnitude[column] += std::abs(term) * growth(edges.size());
      }
  }

  void add_att(const Edge& edge, ResultPart& part) const {
    for (std::size_t column = 0; column < part.value.size(); ++column) {
      const double x = raw(edge, column);
      const double term = p_.at(grad_, edge.id * heads_ + column / channels_) * (x > 0 ? x : kSlope * x);
      part.value[column] += term;
      part.magnitude[column] += std::abs(term) * growth(p_.elements(grad_) / std::max<std::size_t>(1, heads_));
    }
  }

  const Problem& p_;
  std::size_t heads_, channels_, sources_, destinations_;
  std::vector<std::vector<Edge>> from_, to_;
  std::size_t z_src_, z_dst_, att_, grad_;
};

}  // namespace

std::unique_ptr<Reference> make_gatv2(const std::string& name, const Problem& problem) {
  return name == "gatv2_backward" ? std::make_unique<Gatv2Backward>(problem) : nullptr;
}

}  // namespace salient::workbench
