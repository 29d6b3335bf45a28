// engine/train/message_graph.cpp - see message_graph.h.
#include "engine/train/message_graph.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"

namespace salient {
namespace {

/// An entry: source in row destination.
struct Entry {
  NodeId destination, source;
  auto operator<=>(const Entry&) const = default;
};

std::vector<Entry> validation_entries(const Dataset& dataset) {
  const LinkTable& links = dataset.links[kValidLinks];
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < links.size(); ++i) {
    entries.push_back({links.destination(i), links.source(i)});
    if (dataset.is_symmetric) entries.push_back({links.source(i), links.destination(i)});
  }
  std::ranges::sort(entries);
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  return entries;
}

struct OwnedGraph {
  std::vector<EdgeOffset> indptr{0};
  std::vector<NodeId> indices{};
  std::shared_ptr<const void> of_others{};  // what the rest of the data set borrows
};

}  // namespace

Dataset with_validation_messages(const Dataset& dataset) {
  require(!dataset.types.is_typed() && dataset.graph.entries.num_bytes() == 0 && dataset.edge_feature_dim == 0,
          "a plain graph whose entries are ids alone");
  auto owned = std::make_shared<OwnedGraph>();
  const std::vector<Entry> entries = validation_entries(dataset);
  owned->indices.reserve(dataset.graph.indices.size() + entries.size());
  std::vector<NodeId> added;
  auto next = entries.begin();
  for (std::size_t v = 0; v < dataset.num_nodes(); ++v) {
    added.clear();
    for (; next != entries.end() && next->destination == v; ++next) added.push_back(next->source);
    std::ranges::set_union(dataset.graph.row(static_cast<NodeId>(v)), added, std::back_inserter(owned->indices));
    owned->indptr.push_back(static_cast<EdgeOffset>(owned->indices.size()));
  }
  owned->of_others = dataset.storage;
  Dataset merged = dataset;
  merged.graph.indptr = owned->indptr;
  merged.graph.indices = owned->indices;
  merged.storage = std::move(owned);
  return merged;
}

}  // namespace salient
