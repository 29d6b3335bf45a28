// sampler/link_seeds.cpp - see link_seeds.h.
#include "sampler/link_seeds.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"

namespace salient {
namespace {

constexpr std::uint32_t kOfBatch = 0xFFFFFFFF;  // in the place of the link: draws that all links of a batch share
constexpr std::uint32_t kShares = 0xFFFFFFFF;   // what the weights of all nodes are scaled to

/// Sets the share, of kShares, of the nodes before each of some: weights are degree^0.75, by square roots alone, which
/// are the same on every machine. Where none has entries all are alike.
/// @param degree_of  (number of one of them)    @return  whether some has entries
template <class DegreeOf>
bool set_begins(std::span<std::uint32_t> begins, DegreeOf degree_of) {
  std::vector<double> sums(begins.size() + 1, 0);
  for (std::size_t v = 0; v < begins.size(); ++v) {
    const double root = std::sqrt(static_cast<double>(degree_of(v)));
    sums[v + 1] = sums[v] + root * std::sqrt(root);
  }
  const bool has_entries = sums.back() > 0;
  if (!has_entries) std::iota(sums.begin(), sums.end(), 0.0);
  std::ranges::transform(std::span(sums).first(begins.size()), begins.begin(),
                         [&](double sum) { return static_cast<std::uint32_t>(sum / sums.back() * kShares); });
  return has_entries;
}

/// [V] of the nodes of each type, whose entries are those of all its slots.
std::vector<std::uint32_t> begins_by_degree(const CsrGraph& graph) {
  std::vector<std::uint32_t> begins(graph.num_nodes());
  if (graph.slots == nullptr) {
    const bool has_entries = set_begins(begins, [&](std::size_t v) { return graph.degree(v); });
    require(has_entries, "negatives by degree are of graphs with entries");
    return begins;
  }
  const SlotTable& slots = *graph.slots;
  for (std::size_t t = 0; t < slots.num_types(); ++t)
    set_begins(std::span(begins).subspan(slots.node_begin[t], slots.num_nodes_of(t)), [&](std::size_t v) {
      const std::uint64_t row = slots.slot_begin[t] + v * slots.num_slots[t];
      return graph.indptr[row + slots.num_slots[t]] - graph.indptr[row];
    });
  return begins;
}

}  // namespace

LinkNegatives::LinkNegatives(CsrGraph graph, const LinkRule& rule, std::span<const NodeId> ends, const GivenEnds& given,
                             LinkRelations relations)
    : graph_(graph), rule_(rule), ends_(ends), given_(given), relations_(std::move(relations)) {
  require(graph_.num_nodes() >= 2, "negatives are of graphs of two nodes or more");
  require((graph_.slots != nullptr) == !relations_.all.empty(), "links of a typed graph have relations");
  require_rows_of_exclusions(graph_);
  require(rule_.negatives >= 0 && rule_.negatives <= kMaxNegatives, "negatives of a link are few");
  require(rule_.sampler != NegativeSampler::kGiven || given_.of_link > 0 || !given_.pairs.empty(),
          "given negatives are there");
  if (rule_.sampler == NegativeSampler::kDegree && rule_.negatives > 0)
    begin_of_ = std::make_shared<const std::vector<std::uint32_t>>(begins_by_degree(graph_));
}

LinkNegatives::Candidates LinkNegatives::candidates(std::uint32_t i, bool is_source) const {
  if (graph_.slots == nullptr) return {0, static_cast<std::uint32_t>(graph_.num_nodes())};
  const LinkedRelation& relation = relations_.all[relations_.of_links[i]];
  const std::size_t type = is_source ? relation.src : relation.dst;
  return {static_cast<NodeId>(graph_.slots->node_begin[type]),
          static_cast<std::uint32_t>(graph_.slots->num_nodes_of(type))};
}

bool LinkNegatives::is_entry(const NodePair& pair, std::uint32_t i) const {
  std::uint64_t row_number = pair.destination;
  if (graph_.slots != nullptr) {
    const LinkedRelation& relation = relations_.all[relations_.of_links[i]];
    row_number = graph_.slots->row_of(relation.dst, pair.destination, relation.slot);
  }
  const std::span<const NodeId> row = graph_.row(row_number);
  if (!graph_.entries.times.empty()) return std::ranges::find(row, pair.source) != row.end();
  return std::ranges::binary_search(row, pair.source);
}

bool LinkNegatives::is_refused(const NodePair& pair, const NodePair& link, std::uint32_t i) const {
  if (rule_.sampler == NegativeSampler::kInBatch && pair == link) return true;
  return rule_.is_strict && (pair.source == pair.destination || is_entry(pair, i));
}

NodeId LinkNegatives::drawn(Draws& draws, std::uint32_t draw, std::uint32_t i, bool is_source,
                            std::span<const NodeId> batch) const {
  const auto [first, count] = candidates(i, is_source);
  switch (rule_.sampler) {
    case NegativeSampler::kUniform:
    case NegativeSampler::kJoint: return first + draws.below(draw, count);
    case NegativeSampler::kDegree: {
      const std::uint32_t share = draws.below(draw, kShares);
      const std::span<const std::uint32_t> begins = std::span(*begin_of_).subspan(first, count);
      return static_cast<NodeId>(first + (std::ranges::upper_bound(begins, share) - begins.begin()) - 1);
    }
    case NegativeSampler::kInBatch: {
      const NodePair other = link(batch[draws.below(draw, static_cast<std::uint32_t>(batch.size()))]);
      return is_source ? other.source : other.destination;
    }
    case NegativeSampler::kGiven: break;  // no end of its own: see given()
  }
  return 0;
}

NodePair LinkNegatives::given(Draws& draws, std::uint32_t draw, std::uint32_t i, const NodePair& link) const {
  if (given_.of_link > 0) {
    const std::uint32_t at = draws.below(draw, static_cast<std::uint32_t>(given_.of_link));
    return {link.source, given_.destinations[i * given_.of_link + at]};
  }
  const std::size_t pair = draws.below(draw, static_cast<std::uint32_t>(given_.pairs.size() / 2));
  return {given_.pairs[2 * pair], given_.pairs[2 * pair + 1]};
}

NodePair LinkNegatives::of(BatchKey key, std::uint32_t i, NodePair link, int j, std::span<const NodeId> batch) const {
  Draws draws(key, kNegativeDraws, rule_.sampler == NegativeSampler::kJoint ? kOfBatch : i);
  const auto number = static_cast<std::uint32_t>(j);
  const bool is_source = replaces_source(rule_.corrupt, number);
  NodePair pair = link;
  const auto redraw = [&](std::uint32_t draw) {
    if (rule_.sampler == NegativeSampler::kGiven)
      pair = given(draws, draw, i, link);
    else
      (is_source ? pair.source : pair.destination) = drawn(draws, draw, i, is_source, batch);
  };
  draw_negative(number, static_cast<std::uint32_t>(rule_.negatives), redraw, [&] { return is_refused(pair, link, i); });
  return pair;
}

LinkSeeds::LinkSeeds(LinkNegatives negatives, std::span<const std::int64_t> times, FindsPlaces places)
    : negatives_(std::move(negatives)), times_(times), places_(places) {
  excluded_.finish();
}

/// @param link  whose time and relation the pair has
void LinkSeeds::add_pair(NodeId link, const NodePair& pair) {
  const std::int64_t time = times_.empty() ? 0 : times_[link];
  const auto bits = static_cast<std::uint64_t>(time);
  LocalId time_number;
  time_map_.number_all({&bits, 1}, &time_number);
  for (const NodeId end : {pair.source, pair.destination}) {
    const std::uint64_t id = static_cast<std::uint64_t>(time_number) << 32 | end;
    LocalId number;
    map_.number_all({&id, 1}, &number);
    pairs_.push_back(number);
    if (static_cast<std::size_t>(number) < seeds_.size()) continue;
    seeds_.push_back(end);
    seed_times_.push_back(time);
  }
  if (negatives_.graph().slots != nullptr) pairs_.push_back(negatives_.relation(link));
}

void LinkSeeds::make(std::span<const NodeId> links, std::span<const NodeId> batch, BatchKey key) {
  const LinkRule& rule = negatives_.rule();
  map_.clear();
  time_map_.clear();
  seeds_.clear();
  seed_times_.clear();
  pairs_.clear();
  excluded_.clear();
  excluded_keys_.clear();
  for (const NodeId i : links) add_pair(i, negatives_.link(i));
  for (const NodeId i : links)
    for (int j = 0; j < rule.negatives; ++j) add_pair(i, negatives_.of(key, i, negatives_.link(i), j, batch));
  if (rule.exclude == ExcludedEntries::kPair && times_.empty()) {
    for (const NodeId i : batch)
      negatives_.exclude(i, [&](EntryKey key_of_entries) { excluded_keys_.push_back(key_of_entries); });
  }
  if (places_ == FindsPlaces::kHost) {
    for (const EntryKey entries : excluded_keys_) excluded_.add_entries(negatives_.graph(), entries);
    excluded_keys_.clear();
  }
  excluded_.finish();
}

}  // namespace salient
