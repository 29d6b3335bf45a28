// workbench/case/hash_reference.cpp - one hop of sampling without replacement, and local numbers of ids: whole numbers.
#include <set>
#include <unordered_map>

#include "sampler/draws.h"
#include "workbench/case/reference.h"

namespace salient::workbench {
namespace {

std::uint32_t word(const Problem& p, std::string_view dim) { return static_cast<std::uint32_t>(p.dim(dim)); }

/// kept[i, :] and count[i], as sampler/reference_sampler.cpp chooses.
class SampleWithoutReplacement final : public Reference {
 public:
  explicit SampleWithoutReplacement(const Problem& problem) : p_(problem) {}

  std::vector<ResultPart> row(std::size_t row) const override {
    const std::size_t indptr = p_.index_of("indptr"), indices = p_.index_of("indices");
    const auto node = static_cast<std::uint32_t>(p_.at(p_.index_of("dst"), row));
    const auto first = static_cast<std::size_t>(p_.at(indptr, node));
    const auto degree =
        static_cast<std::uint32_t>(p_.at(indptr, node + std::size_t{1})) - static_cast<std::uint32_t>(first);
    const std::uint32_t fanout = word(p_, "fanout"), kept = std::min(degree, fanout);
    Draws draws({word(p_, "seed"), word(p_, "epoch"), word(p_, "batch")}, word(p_, "hop"), node);
    ResultPart part{p_.index_of("kept"), row * fanout}, count{p_.index_of("count"), row};
    std::set<std::uint32_t> taken;
    for (std::uint32_t i = 0; i < kept; ++i) {
      const std::uint32_t last = degree - kept + i;
      const std::uint32_t draw = kept == degree ? i : draws.below(i, last + 1);
      const std::uint32_t chosen = taken.contains(draw) ? last : draw;
      taken.insert(chosen);
      part.add(p_.at(indices, first + chosen), 0);
    }
    for (std::uint32_t i = kept; i < fanout; ++i) part.add(static_cast<double>(p_.dim("nodes")), 0);
    count.add(kept, 0);
    return {part, count};
  }

 private:
  const Problem& p_;
};

/// Rows: one per id with its number and the id of that number; the last one has the count.
class Relabel final : public Reference {
 public:
  explicit Relabel(const Problem& problem) : p_(problem) {
    const std::size_t ids = p_.index_of("ids");
    std::unordered_map<double, std::size_t> number_of;
    for (std::size_t i = 0; i < p_.elements(ids); ++i) {
      const auto [at, is_new] = number_of.emplace(p_.at(ids, i), nodes_.size());
      if (is_new) nodes_.push_back(at->first);
      numbers_.push_back(static_cast<double>(at->second));
    }
  }

  std::vector<ResultPart> row(std::size_t row) const override {
    if (row == numbers_.size()) return {{p_.index_of("count"), 0, {static_cast<double>(nodes_.size())}, {0}}};
    const double node = row < nodes_.size() ? nodes_[row] : static_cast<double>(p_.dim("limit"));
    return {{p_.index_of("nodes"), row, {node}, {0}}, {p_.index_of("local"), row, {numbers_[row]}, {0}}};
  }

 private:
  const Problem& p_;
  std::vector<double> nodes_{}, numbers_{};
};

}  // namespace

std::unique_ptr<Reference> make_hash(const std::string& name, const Problem& problem) {
  if (name == "sample_without_replacement") return std::make_unique<SampleWithoutReplacement>(problem);
  if (name == "relabel") return std::make_unique<Relabel>(problem);
  return nullptr;
}

}  // namespace salient::workbench
