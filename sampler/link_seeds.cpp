// sampler/link_seeds.cpp - see link_seeds.h.
#include "sampler/link_seeds.h"

#include <algorithm>

#include "core/error.h"

namespace salient {
namespace {

constexpr std::uint32_t kNegativeDraws = 0xFFFFFFFE;  // in the place of the hop, which no sampler uses
constexpr std::uint32_t kMaxAttempts = 16;

}  // namespace

LinkNegatives::LinkNegatives(CsrGraph graph, const LinkRule& rule) : graph_(graph), rule_(rule) {
  require(graph_.slots == nullptr && graph_.num_nodes() >= 2, "negatives are of plain graphs of two nodes or more");
  require(rule_.negatives >= 0 && rule_.negatives <= kMaxNegatives, "negatives of a link are few");
}

bool LinkNegatives::is_entry(const NodePair& pair) const {
  const std::span<const NodeId> row = graph_.row(pair.destination);
  if (!graph_.entries.times.empty()) return std::ranges::find(row, pair.source) != row.end();
  return std::ranges::binary_search(row, pair.source);
}

NodePair LinkNegatives::of(BatchKey key, std::uint32_t i, NodePair link, int j) const {
  Draws draws(key, kNegativeDraws, i);
  const bool replaces_source = rule_.corrupt == CorruptedEnd::kBoth && j % 2 == 1;
  const auto num_nodes = static_cast<std::uint32_t>(graph_.num_nodes());
  NodePair pair = link;
  for (std::uint32_t attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const std::uint32_t draw = static_cast<std::uint32_t>(j) + attempt * static_cast<std::uint32_t>(rule_.negatives);
    (replaces_source ? pair.source : pair.destination) = draws.below(draw, num_nodes);
    if (!rule_.is_strict || (pair.source != pair.destination && !is_entry(pair))) break;
  }
  return pair;
}

LinkSeeds::LinkSeeds(CsrGraph graph, std::span<const NodeId> ends, const LinkRule& rule)
    : graph_(graph), ends_(ends), rule_(rule), negatives_(graph, rule) {
  excluded_.finish();
}

void LinkSeeds::add_pair(const NodePair& pair) {
  const NodeId ends[2] = {pair.source, pair.destination};
  LocalId numbers[2];
  map_.number_all(ends, numbers);
  pairs_.insert(pairs_.end(), numbers, numbers + 2);
}

void LinkSeeds::make(std::span<const NodeId> links, std::span<const NodeId> batch, BatchKey key) {
  map_.clear();
  pairs_.clear();
  excluded_.clear();
  for (const NodeId i : links) add_pair(link(i));
  for (const NodeId i : links)
    for (int j = 0; j < rule_.negatives; ++j) add_pair(negatives_.of(key, i, link(i), j));
  if (rule_.exclude == ExcludedEntries::kPair)
    for (const NodeId i : batch) excluded_.add_link(graph_, link(i).source, link(i).destination);
  excluded_.finish();
}

}  // namespace salient
