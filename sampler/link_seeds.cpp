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

LinkSeeds::LinkSeeds(CsrGraph graph, std::span<const NodeId> ends, const LinkRule& rule,
                     std::span<const std::int64_t> times)
    : graph_(graph), ends_(ends), rule_(rule), negatives_(graph, rule), times_(times) {
  require(times_.empty() || times_.size() == ends_.size() / 2, "every link has a time, or none has");
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
  map_.clear();
  time_map_.clear();
  seeds_.clear();
  seed_times_.clear();
  pairs_.clear();
  excluded_.clear();
  const auto time_of = [&](NodeId i) { return times_.empty() ? 0 : times_[i]; };
  for (const NodeId i : links) add_pair(link(i), time_of(i));
  for (const NodeId i : links)
    for (int j = 0; j < rule_.negatives; ++j) add_pair(negatives_.of(key, i, link(i), j), time_of(i));
  if (rule_.exclude == ExcludedEntries::kPair && times_.empty())
    for (const NodeId i : batch) excluded_.add_link(graph_, link(i).source, link(i).destination);
  excluded_.finish();
}

}  // namespace salient
