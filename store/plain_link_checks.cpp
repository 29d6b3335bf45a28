// store/plain_link_checks.cpp - see plain_link_checks.h.
#include "store/plain_link_checks.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "store/store_arrays.h"

namespace salient {
namespace {

/// A pair of nodes, whichever way the link leads.
struct PlacedPair {
  NodeId low = 0, high = 0;
  std::uint32_t split = 0;
  std::uint64_t record = 0;

  auto operator<=>(const PlacedPair&) const = default;
  bool is_same_pair(const PlacedPair& other) const { return low == other.low && high == other.high; }
};

const char* file_of(std::size_t split) { return kLinkArrays[split].ends.file; }

std::string link_name(const LinkTable& links, std::size_t i) {
  return "record " + std::to_string(i) + " (" + std::to_string(links.source(i)) + ", " +
         std::to_string(links.destination(i)) + ")";
}

std::vector<PlacedPair> sorted_pairs(const LinkSplits& splits) {
  std::vector<PlacedPair> pairs;
  for (std::uint32_t s = 0; s < splits.size(); ++s)
    for (std::size_t i = 0; i < splits[s].size(); ++i) {
      const auto [low, high] = std::minmax({splits[s].source(i), splits[s].destination(i)});
      pairs.push_back({low, high, s, i});
    }
  std::ranges::sort(pairs);
  return pairs;
}

/// No pair is in two splits, and no link is twice in one.
void refuse_shared_pairs(const Dataset& dataset, const std::vector<PlacedPair>& pairs, const DatasetChecks& checks) {
  const auto link_of = [&](const PlacedPair& pair) {
    const LinkTable& links = dataset.links[pair.split];
    return std::pair(links.source(pair.record), links.destination(pair.record));
  };
  std::uint64_t num_leaks = 0;
  const PlacedPair *first = nullptr, *leak = nullptr;
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    const PlacedPair &before = pairs[i - 1], &pair = pairs[i];
    if (!before.is_same_pair(pair)) continue;
    if (before.split == pair.split && (dataset.is_symmetric || link_of(before) == link_of(pair)))
      checks.refuse(file_of(pair.split), link_name(dataset.links[pair.split], pair.record) + " is also record " +
                                             std::to_string(before.record));
    num_leaks += before.split != pair.split;
    if (before.split != pair.split && leak == nullptr) first = &before, leak = &pair;
  }
  if (leak != nullptr)
    checks.refuse(file_of(leak->split), std::to_string(num_leaks) + (num_leaks == 1 ? " link is" : " links are") +
                                            " in an earlier split too, in this direction or the other: the first is " +
                                            link_name(dataset.links[leak->split], leak->record) + ", which is record " +
                                            std::to_string(first->record) + " of " + file_of(first->split));
}

bool is_training_pair(const std::vector<PlacedPair>& pairs, NodeId a, NodeId b) {
  const auto [low, high] = std::minmax({a, b});
  const auto at = std::ranges::lower_bound(pairs, PlacedPair{low, high, kTrainLinks, 0});
  return at != pairs.end() && at->low == low && at->high == high && at->split == kTrainLinks;
}

/// Entries are the training links and, where the graph is symmetric, their reverses.
void require_entries(const Dataset& dataset, const std::vector<PlacedPair>& pairs, const DatasetChecks& checks) {
  const LinkTable& links = dataset.links[kTrainLinks];
  for (std::size_t i = 0; i < links.size(); ++i)
    if (!is_plain_entry(dataset, links.source(i), links.destination(i)))
      checks.refuse(file_of(kTrainLinks), link_name(links, i) + " is no entry of the graph");
  std::uint64_t num_others = 0;
  std::string first;
  for (std::size_t v = 0; v < dataset.num_nodes(); ++v)
    for (const NodeId u : dataset.graph.row(v)) {
      if (is_training_pair(pairs, u, static_cast<NodeId>(v))) continue;
      if (num_others++ == 0) first = std::to_string(u) + " -> " + std::to_string(v);
    }
  if (num_others > 0)
    checks.refuse(kIndicesArray.file, std::to_string(num_others) + (num_others == 1 ? " entry is" : " entries are") +
                                          " no training link, so that links to be predicted may be among the "
                                          "messages: the first is " +
                                          first);
}

}  // namespace

bool is_plain_entry(const Dataset& dataset, NodeId source, NodeId destination) {
  const auto row = dataset.graph.row(destination);
  if (dataset.has_edge_times) return std::ranges::find(row, source) != row.end();
  return std::ranges::binary_search(row, source);
}

void check_plain_links(const Dataset& dataset, const DatasetChecks& checks) {
  for (std::size_t s = 0; s < dataset.links.size(); ++s) {
    const LinkTable& links = dataset.links[s];
    for (std::size_t i = 0; i < links.size(); ++i)
      if (std::max(links.source(i), links.destination(i)) >= dataset.num_nodes())
        checks.refuse(file_of(s), link_name(links, i) + ": nodes are 0 to " + std::to_string(dataset.num_nodes() - 1));
  }
}

void verify_plain_links(const Dataset& dataset, const DatasetChecks& checks, SharedPairs shared) {
  const std::vector<PlacedPair> pairs = sorted_pairs(dataset.links);
  if (shared == SharedPairs::kRefused) refuse_shared_pairs(dataset, pairs, checks);
  require_entries(dataset, pairs, checks);
}

}  // namespace salient
