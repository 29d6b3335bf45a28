// store/link_checks.cpp - see link_checks.h.
#include "store/link_checks.h"

#include <algorithm>
#include <compare>
#include <vector>

#include "core/printable.h"
#include "store/link_negatives.h"
#include "store/plain_link_checks.h"
#include "store/schema_text.h"
#include "store/store_arrays.h"
#include "store/timed_link_checks.h"

namespace salient {
namespace {

struct PlacedLink {
  std::uint32_t relation, source, destination;
  std::uint32_t split;
  std::uint64_t record;

  auto operator<=>(const PlacedLink&) const = default;
  bool is_same_link(const PlacedLink& other) const {
    return relation == other.relation && source == other.source && destination == other.destination;
  }
};

const Relation& relation_of(const Dataset& dataset, const LinkTable& links, std::size_t i) {
  return dataset.types.relations[links.relations[i]];
}

bool is_of_type(const Dataset& dataset, NodeId node, int type) {
  const auto t = static_cast<std::size_t>(type);
  return node >= dataset.slots->node_begin[t] && node < dataset.slots->node_begin[t + 1];
}

/// Whether a relation has this entry.
bool is_entry(const Dataset& dataset, const Relation& relation, NodeId source, NodeId destination) {
  const auto row =
      dataset.graph.row(dataset.slots->row_of(static_cast<std::size_t>(relation.dst), destination, relation.slot));
  return std::binary_search(row.begin(), row.end(), source);
}

bool is_entry(const Dataset& dataset, const LinkTable& links, std::size_t i, NodeId source, NodeId destination) {
  if (!dataset.types.is_typed()) return is_plain_entry(dataset, source, destination);
  const Relation& relation = relation_of(dataset, links, i);
  const bool may_lead_back = relation.src == relation.dst || source == links.source(i);
  return may_lead_back && is_entry(dataset, relation, source, destination);
}

std::string link_name(const Dataset& dataset, const LinkTable& links, std::size_t i) {
  return "record " + std::to_string(i) + " (" + std::to_string(links.source(i)) + ", " +
         printable(relation_of(dataset, links, i).name) + ", " + std::to_string(links.destination(i)) + ")";
}

void refuse_repeats(const Dataset& dataset, const DatasetChecks& checks) {
  std::vector<PlacedLink> all;
  for (std::uint32_t s = 0; s < 3; ++s)
    for (std::size_t i = 0; i < dataset.links[s].size(); ++i)
      all.push_back({dataset.links[s].relations[i], dataset.links[s].source(i), dataset.links[s].destination(i), s, i});
  std::ranges::sort(all);
  const auto repeat =
      std::ranges::adjacent_find(all, [](const PlacedLink& a, const PlacedLink& b) { return a.is_same_link(b); });
  if (repeat == all.end()) return;
  const PlacedLink &first = repeat[0], &second = repeat[1];
  checks.refuse(kLinkArrays[second.split].ends.file, link_name(dataset, dataset.links[second.split], second.record) +
                                                         " is also record " + std::to_string(first.record) + " of " +
                                                         kLinkArrays[first.split].ends.file);
}

/// A node is met in training if it is an end of a training link.
std::vector<bool> nodes_met(const Dataset& dataset) {
  std::vector<bool> is_met(dataset.num_nodes());
  for (const NodeId node : dataset.links[kTrainLinks].ends) is_met[node] = true;
  return is_met;
}

std::string leaks_text(const LinkLeaks& leaks, std::size_t num_links) {
  std::string text = grouped(leaks.reversed_in_training) + " of " + grouped(num_links) +
                     " have their reverse in training, " + grouped(leaks.unseen) + " a node that no training link has";
  if (leaks.in_training > 0) text = grouped(leaks.in_training) + " are training links, " + text;
  return text;
}

}  // namespace

void check_links(const Dataset& dataset, const DatasetChecks& checks) {
  if (!dataset.types.is_typed()) return check_plain_links(dataset, checks);
  for (std::size_t s = 0; s < dataset.links.size(); ++s) {
    const LinkTable& links = dataset.links[s];
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (links.relations[i] >= dataset.types.relations.size())
        checks.refuse(kLinkArrays[s].relations.file, "record " + std::to_string(i) + " is relation " +
                                                         std::to_string(links.relations[i]) + ", there are " +
                                                         std::to_string(dataset.types.relations.size()));
      const Relation& relation = relation_of(dataset, links, i);
      if (relation.reverse_of)
        checks.refuse(kLinkArrays[s].relations.file,
                      link_name(dataset, links, i) + " is of a reverse, which links never are");
      if (!is_of_type(dataset, links.source(i), relation.src) ||
          !is_of_type(dataset, links.destination(i), relation.dst))
        checks.refuse(kLinkArrays[s].ends.file,
                      link_name(dataset, links, i) + " does not lead from a node of type '" +
                          dataset.types.node_types[static_cast<std::size_t>(relation.src)].name + "' to one of type '" +
                          dataset.types.node_types[static_cast<std::size_t>(relation.dst)].name + "'");
    }
  }
}

void verify_links(const Dataset& dataset, const DatasetChecks& checks, MayRepeat may_repeat) {
  if (dataset.has_link_times) return verify_timed_links(dataset, checks);  // a negative may be a link at another time
  if (may_repeat == MayRepeat::kNo) verify_negatives(dataset, checks);
  if (!dataset.types.is_typed())
    return verify_plain_links(dataset, checks,
                              may_repeat == MayRepeat::kYes ? SharedPairs::kAllowed : SharedPairs::kRefused);
  if (may_repeat == MayRepeat::kNo) refuse_repeats(dataset, checks);
  const LinkTable& links = dataset.links[kTrainLinks];
  std::vector<std::uint64_t> counts(dataset.types.relations.size());
  std::vector<bool> has_links(counts.size());  // of other relations all edges are entries
  for (const LinkTable& split : dataset.links)
    for (const std::uint16_t r : split.relations) has_links[r] = true;
  for (std::size_t i = 0; i < links.size(); ++i) {
    ++counts[links.relations[i]];
    if (!is_entry(dataset, relation_of(dataset, links, i), links.source(i), links.destination(i)))
      checks.refuse(kLinkArrays[kTrainLinks].ends.file, link_name(dataset, links, i) + " is no entry of the graph");
  }
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const Relation& relation = dataset.types.relations[r];
    if (has_links[r] && counts[r] != relation.num_entries)
      checks.refuse(kLinkArrays[kTrainLinks].ends.file, std::to_string(counts[r]) + " links of " +
                                                            printable(text_of(dataset.types, relation)) +
                                                            ", which has " + std::to_string(relation.num_entries) +
                                                            " entries: they are the training links");
  }
}

std::array<LinkLeaks, 3> count_leaks(const Dataset& dataset) {
  const std::vector<bool> is_met = nodes_met(dataset);
  std::array<LinkLeaks, 3> leaks{};
  for (std::size_t s = 0; s < leaks.size(); ++s) {
    const LinkTable& links = dataset.links[s];
    for (std::size_t i = 0; i < links.size(); ++i) {
      const NodeId source = links.source(i), destination = links.destination(i);
      leaks[s].reversed_in_training += source != destination && is_entry(dataset, links, i, destination, source);
      if (s == kTrainLinks) continue;
      leaks[s].in_training += is_entry(dataset, links, i, source, destination);
      leaks[s].unseen += !is_met[source] || !is_met[destination];
    }
  }
  return leaks;
}

std::string links_text(const Dataset& dataset) {
  if (dataset.has_link_times) return timed_links_text(dataset) + negatives_text(dataset);
  const LinkSplits& links = dataset.links;
  const std::vector<bool> is_met = nodes_met(dataset);
  const std::array<LinkLeaks, 3> leaks = count_leaks(dataset);
  std::string text =
      summary_line("links", grouped(links[kTrainLinks].size()) + " train, " + grouped(links[kValidLinks].size()) +
                                " valid, " + grouped(links[kTestLinks].size()) + " test");
  text += summary_line("  valid", leaks_text(leaks[kValidLinks], links[kValidLinks].size()));
  text += summary_line("  test", leaks_text(leaks[kTestLinks], links[kTestLinks].size()));
  text += negatives_text(dataset);
  const auto num_unmet = static_cast<std::uint64_t>(std::ranges::count(is_met, false));
  return text +
         summary_line("", grouped(num_unmet) + " of " + grouped(is_met.size()) + " nodes are in no training link");
}

}  // namespace salient
