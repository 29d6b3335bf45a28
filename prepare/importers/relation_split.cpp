// prepare/importers/relation_split.cpp - see relation_split.h.
#include "prepare/importers/relation_split.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/console/log.h"
#include "core/error.h"
#include "prepare/importers/split.h"
#include "store/link_table.h"

namespace salient {
namespace {

constexpr std::uint32_t kRelationSplitTag = 0x52535054;  // "RSPT"

/// Whether a file has the reverse of a relation: its edges would tell the links.
bool has_given_reverse(const GraphSchema& schema, const Relation& relation) {
  return std::ranges::any_of(schema.relations, [&](const Relation& other) {
    return !other.reverse_of && other.src == relation.dst && other.dst == relation.src &&
           (other.name == kReversePrefix + relation.name || relation.name == kReversePrefix + other.name);
  });
}

class RelationSplit {
 public:
  RelationSplit(TypedGraph& graph, const std::vector<int>& relations)
      : graph_(graph), slots_(slot_table_of(graph.schema)) {
    for (const int r : relations) relations_.push_back(static_cast<std::size_t>(r));
  }

  void run(const std::vector<double>& fractions) {
    require_room();
    find_pairs();
    draw_parts(fractions);
    graph_.has_links = true;
    for (const std::size_t r : relations_) split(r);
    const std::string& file = graph_.target.source_path;
    if (graph_.links[kTrainLinks].relations.empty())
      fail(ErrorKind::kBadData, file + ": the edge split leaves no link to train on");
    if (self_loops_ > 0)
      log_info(file + ": " + std::to_string(self_loops_) + " self loops are no links and are left out");
    if (without_part_ > 0)
      log_warning(file + ": the fractions of the edge split leave out " + std::to_string(without_part_) +
                  " edges, which are neither links nor entries");
  }

 private:
  NodeId source_of(std::size_t r, std::size_t e) const {
    const auto type = static_cast<std::size_t>(graph_.schema.relations[r].src);
    return static_cast<NodeId>(slots_.node_begin[type]) + graph_.edges[r].sources[e];
  }
  NodeId destination_of(std::size_t r, std::size_t e) const {
    const auto type = static_cast<std::size_t>(graph_.schema.relations[r].dst);
    return static_cast<NodeId>(slots_.node_begin[type]) + graph_.edges[r].destinations[e];
  }
  static std::uint64_t pair_of(NodeId a, NodeId b) {
    const auto [low, high] = std::minmax({a, b});
    return std::uint64_t{low} << 32 | high;
  }

  void require_room() const {
    if (graph_.target.task != Task::kMultiClass)
      fail(ErrorKind::kUsage, graph_.target.source_path +
                                  ": links are predicted beside classes of nodes or none, and it has " +
                                  words_of(graph_.target.task).of_node);
    std::size_t num_edges = 0;
    for (const std::size_t r : relations_) num_edges += graph_.edges[r].sources.size();
    graph_.target.memory.check(num_edges * 3 * sizeof(std::uint64_t), graph_.target.source_path);
  }

  /// The pairs that edges connect, ascending, of all relations; self loops connect none.
  void find_pairs() {
    for (const std::size_t r : relations_)
      for (std::size_t e = 0; e < graph_.edges[r].sources.size(); ++e)
        if (source_of(r, e) != destination_of(r, e)) pairs_.push_back(pair_of(source_of(r, e), destination_of(r, e)));
    std::ranges::sort(pairs_);
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    if (pairs_.empty())
      fail(ErrorKind::kBadData,
           graph_.target.source_path + ": no edge between two nodes, of which links could be made");
  }

  void draw_parts(const std::vector<double>& fractions) {
    const std::array<std::size_t, 3> ends = part_ends(pairs_.size(), {fractions[0], fractions[1], fractions[2]});
    const std::vector<NodeId> order = items_by_key(pairs_.size(), graph_.target.rng_seed, kRelationSplitTag);
    part_of_.assign(pairs_.size(), kNoPart);
    std::size_t at = 0;
    for (std::uint8_t part = 0; part < ends.size(); ++part)
      for (; at < ends[part]; ++at) part_of_[order[at]] = part;
  }

  void split(std::size_t r) {
    NodePairs& edges = graph_.edges[r];
    std::vector<std::uint8_t> seen(pairs_.size(), 0);  // bit 0: a link upwards, bit 1: one downwards
    std::size_t kept = 0;
    for (std::size_t e = 0; e < edges.sources.size(); ++e) {
      const NodeId source = source_of(r, e), destination = destination_of(r, e);
      if (source == destination) {
        ++self_loops_;
        continue;
      }
      const auto pair =
          static_cast<std::size_t>(std::ranges::lower_bound(pairs_, pair_of(source, destination)) - pairs_.begin());
      const std::uint8_t part = part_of_[pair], direction = source < destination ? 1 : 2;
      if (part == kNoPart) {
        ++without_part_;
        continue;
      }
      if ((seen[pair] & direction) == 0) {
        graph_.links[part].ends.insert(graph_.links[part].ends.end(), {source, destination});
        graph_.links[part].relations.push_back(static_cast<std::uint16_t>(r));
      }
      seen[pair] |= direction;
      if (part != kTrainLinks) continue;
      edges.sources[kept] = edges.sources[e];
      edges.destinations[kept] = edges.destinations[e];
      ++kept;
    }
    edges.sources.resize(kept);
    edges.destinations.resize(kept);
  }

  TypedGraph& graph_;
  const SlotTable slots_;
  std::vector<std::size_t> relations_{};
  std::vector<std::uint64_t> pairs_{};
  std::vector<std::uint8_t> part_of_{};  // [pairs] kTrainLinks, kValidLinks, kTestLinks or kNoPart
  std::uint64_t self_loops_ = 0, without_part_ = 0;
};

}  // namespace

std::vector<int> link_relations(const GraphSchema& schema, const std::vector<std::string>& names, std::string& rule) {
  std::vector<int> found;
  rule.clear();
  std::vector<bool> is_met(names.size());
  for (std::size_t r = 0; r < schema.relations.size(); ++r) {
    const Relation& relation = schema.relations[r];
    if (relation.reverse_of) continue;
    const auto name = std::ranges::find(names, text_of(schema, relation));
    if (!names.empty() && name == names.end()) continue;
    if (!names.empty()) is_met[static_cast<std::size_t>(name - names.begin())] = true;
    found.push_back(static_cast<int>(r));
    if (has_given_reverse(schema, relation) && rule.empty())
      rule = "'" + text_of(schema, relation) +
             "' has its reverse in a file of its own, whose edges would tell the links; without the file it is made";
  }
  for (std::size_t n = 0; n < names.size(); ++n)
    if (!is_met[n] && rule.empty()) rule = "no relation '" + names[n] + "' is given, as SRC:NAME:DST";
  return found;
}

void split_relations(TypedGraph& graph, const std::vector<int>& relations, const std::vector<double>& fractions) {
  RelationSplit(graph, relations).run(fractions);
}

}  // namespace salient
