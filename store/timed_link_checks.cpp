// store/timed_link_checks.cpp - see timed_link_checks.h.
#include "store/timed_link_checks.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "core/printable.h"
#include "store/schema_text.h"
#include "store/store_arrays.h"

namespace salient {
namespace {

struct TimedEntry {
  NodeId destination, source;
  std::int64_t time;
  auto operator<=>(const TimedEntry&) const = default;
};

std::string text_of(const TimedEntry& entry) {
  return std::to_string(entry.source) + " -> " + std::to_string(entry.destination) + " at " +
         std::to_string(entry.time);
}

/// The latest time of a split is none that the next begins before.
void require_order(const Dataset& dataset, const DatasetChecks& checks) {
  for (std::size_t later = kValidLinks; later <= kTestLinks; ++later)
    for (std::size_t earlier = kTrainLinks; earlier < later; ++earlier) {
      const std::span<const std::int64_t> before = dataset.links[earlier].times, times = dataset.links[later].times;
      if (before.empty() || times.empty()) continue;
      const auto latest = std::ranges::max_element(before), first = std::ranges::min_element(times);
      if (*first < *latest)
        checks.refuse(kLinkArrays[later].times.file,
                      "record " + std::to_string(first - times.begin()) + " is at " + std::to_string(*first) +
                          ", before record " + std::to_string(latest - before.begin()) + " of " +
                          kLinkArrays[earlier].times.file + " at " + std::to_string(*latest));
    }
}

std::vector<TimedEntry> entries_of_links(const Dataset& dataset) {
  std::vector<TimedEntry> entries;
  for (const LinkTable& links : dataset.links)
    for (std::size_t i = 0; i < links.size(); ++i) {
      entries.push_back({links.destination(i), links.source(i), links.times[i]});
      if (dataset.is_symmetric) entries.push_back({links.source(i), links.destination(i), links.times[i]});
    }
  std::ranges::sort(entries);
  return entries;
}

std::vector<TimedEntry> entries_of_graph(const Dataset& dataset) {
  std::vector<TimedEntry> entries;
  const CsrGraph& graph = dataset.graph;
  for (std::size_t v = 0; v < graph.num_nodes(); ++v)
    for (auto e = static_cast<std::size_t>(graph.indptr[v]); e < static_cast<std::size_t>(graph.indptr[v + 1]); ++e)
      entries.push_back({static_cast<NodeId>(v), graph.indices[e], graph.entries.times[e]});
  std::ranges::sort(entries);
  return entries;
}

std::uint64_t pair_of(const LinkTable& links, std::size_t i) {
  const auto [low, high] = std::minmax({links.source(i), links.destination(i)});
  return std::uint64_t{low} << 32 | high;
}

}  // namespace

void verify_timed_links(const Dataset& dataset, const DatasetChecks& checks) {
  require_order(dataset, checks);
  const std::vector<TimedEntry> links = entries_of_links(dataset), graph = entries_of_graph(dataset);
  const auto [link, entry] = std::ranges::mismatch(links, graph);
  if (link == links.end() && entry == graph.end()) return;
  if (entry == graph.end() || (link != links.end() && *link < *entry))
    checks.refuse(kIndicesArray.file, "has no entry " + text_of(*link) + ", which is a link: of links with times the " +
                                          "graph has those of all splits");
  checks.refuse(kIndicesArray.file, "entry " + text_of(*entry) + " is no link");
}

std::string timed_links_text(const Dataset& dataset) {
  constexpr std::array kNames = {"  train", "  valid", "  test"};
  const LinkSplits& links = dataset.links;
  std::string text =
      summary_line("links", grouped(links[kTrainLinks].size()) + " train, " + grouped(links[kValidLinks].size()) +
                                " valid, " + grouped(links[kTestLinks].size()) + " test, each asked for at its time");
  std::vector<std::uint64_t> known;
  for (std::size_t i = 0; i < links[kTrainLinks].size(); ++i) known.push_back(pair_of(links[kTrainLinks], i));
  std::ranges::sort(known);
  for (std::size_t s = 0; s < links.size(); ++s) {
    if (links[s].size() == 0) continue;
    const auto [first, last] = std::ranges::minmax(links[s].times);
    std::string line = "times " + std::to_string(first) + " to " + std::to_string(last);
    std::uint64_t met = 0;
    for (std::size_t i = 0; s != kTrainLinks && i < links[s].size(); ++i)
      met += std::ranges::binary_search(known, pair_of(links[s], i));
    if (s != kTrainLinks)
      line += "; " + grouped(met) + " of " + grouped(links[s].size()) + " join a pair that a training link joins";
    text += summary_line(kNames[s], line);
  }
  return text;
}

}  // namespace salient
