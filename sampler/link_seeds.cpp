// sampler/link_seeds.cpp - see link_seeds.h.
#include "sampler/link_seeds.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace salient {
namespace {

constexpr std::uint32_t kNegativeDraws = 0xFFFFFFFE;  // in the place of the hop, which no sampler uses
constexpr std::uint32_t kMaxAttempts = 16;

constexpr std::uint32_t kOfBatch = 0xFFFFFFFF;  // in the place of the link: draws that all links of a batch share
constexpr std::uint32_t kShares = 0xFFFFFFFF;   // what the weights of all nodes are scaled to

/// [V] for each node the share, of kShares, of the nodes before it: weights are degree^0.75, by square roots alone,
/// which are the same on every machine.
std::vector<std::uint32_t> begins_by_degree(const CsrGraph& graph) {
  std::vector<double> sums(graph.num_nodes() + 1, 0);
  for (std::size_t v = 0; v < graph.num_nodes(); ++v) {
    const double root = std::sqrt(static_cast<double>(graph.degree(static_cast<NodeId>(v))));
    sums[v + 1] = sums[v] + root * std::sqrt(root);
  }
  require(sums.back() > 0, "negatives by degree are of graphs with entries");
  std::vector<std::uint32_t> begins(graph.num_nodes());
  std::ranges::transform(std::span(sums).first(begins.size()), begins.begin(),
                         [&](double sum) { return static_cast<std::uint32_t>(sum / sums.back() * kShares); });
  return begins;
}

}  // namespace

LinkNegatives::LinkNegatives(CsrGraph graph, const LinkRule& rule, std::span<const NodeId> ends, const GivenEnds& given)
    : graph_(graph), rule_(rule), ends_(ends), given_(given) {
  require(graph_.slots == nullptr && graph_.num_nodes() >= 2, "negatives are of plain graphs of two nodes or more");
  require(rule_.negatives >= 0 && rule_.negatives <= kMaxNegatives, "negatives of a link are few");
  require(rule_.sampler != NegativeSampler::kGiven || given_.of_link > 0 || !given_.pairs.empty(),
          "given negatives are there");
  if (rule_.sampler == NegativeSampler::kDegree && rule_.negatives > 0)
    begin_of_ = std::make_shared<const std::vector<std::uint32_t>>(begins_by_degree(graph_));
}

bool LinkNegatives::is_entry(const NodePair& pair) const {
  const std::span<const NodeId> row = graph_.row(pair.destination);
  if (!graph_.entries.times.empty()) return std::ranges::find(row, pair.source) != row.end();
  return std::ranges::binary_search(row, pair.source);
}

bool LinkNegatives::is_refused(const NodePair& pair, const NodePair& link) const {
  if (rule_.sampler == NegativeSampler::kInBatch && pair == link) return true;
  return rule_.is_strict && (pair.source == pair.destination || is_entry(pair));
}

NodeId LinkNegatives::drawn(Draws& draws, std::uint32_t draw, bool is_source, std::span<const NodeId> batch) const {
  switch (rule_.sampler) {
    case NegativeSampler::kUniform:
    case NegativeSampler::kJoint: return draws.below(draw, static_cast<std::uint32_t>(graph_.num_nodes()));
    case NegativeSampler::kDegree: {
      const std::uint32_t share = draws.below(draw, kShares);
      return static_cast<NodeId>(std::ranges::upper_bound(*begin_of_, share) - begin_of_->begin() - 1);
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
  const bool replaces_source = rule_.corrupt == CorruptedEnd::kBoth && j % 2 == 1;
  NodePair pair = link;
  for (std::uint32_t attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const std::uint32_t draw = static_cast<std::uint32_t>(j) + attempt * static_cast<std::uint32_t>(rule_.negatives);
    if (rule_.sampler == NegativeSampler::kGiven)
      pair = given(draws, draw, i, link);
    else
      (replaces_source ? pair.source : pair.destination) = drawn(draws, draw, replaces_source, batch);
    if (!is_refused(pair, link)) break;
  }
  return pair;
}

LinkSeeds::LinkSeeds(LinkNegatives negatives, std::span<const std::int64_t> times)
    : negatives_(std::move(negatives)), times_(times) {
  excluded_.finish();
}

void LinkSeeds::add_pair(const NodePair& pair, std::int64_t time) {
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
}

void LinkSeeds::make(std::span<const NodeId> links, std::span<const NodeId> batch, BatchKey key) {
  const LinkRule& rule = negatives_.rule();
  map_.clear();
  time_map_.clear();
  seeds_.clear();
  seed_times_.clear();
  pairs_.clear();
  excluded_.clear();
  const auto time_of = [&](NodeId i) { return times_.empty() ? 0 : times_[i]; };
  for (const NodeId i : links) add_pair(negatives_.link(i), time_of(i));
  for (const NodeId i : links)
    for (int j = 0; j < rule.negatives; ++j) add_pair(negatives_.of(key, i, negatives_.link(i), j, batch), time_of(i));
  if (rule.exclude == ExcludedEntries::kPair && times_.empty())
    for (const NodeId i : batch)
      excluded_.add_link(negatives_.graph(), negatives_.link(i).source, negatives_.link(i).destination);
  excluded_.finish();
}

}  // namespace salient
