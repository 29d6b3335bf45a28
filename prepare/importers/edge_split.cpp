// prepare/importers/edge_split.cpp - see edge_split.h.
#include "prepare/importers/edge_split.h"

#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "prepare/importers/split.h"
#include "store/link_table.h"

namespace salient {
namespace {

constexpr std::uint32_t kEdgeSplitTag = 0x45535054;  // "ESPT"

std::uint64_t pair_of(NodeId a, NodeId b) {
  const auto [low, high] = std::minmax({a, b});
  return std::uint64_t{low} << 32 | high;
}

/// The pairs that edges connect, ascending; self loops connect none.
std::vector<std::uint64_t> distinct_pairs(const RawGraph& graph) {
  std::vector<std::uint64_t> pairs;
  pairs.reserve(graph.sources.size());
  for (std::size_t e = 0; e < graph.sources.size(); ++e)
    if (graph.sources[e] != graph.destinations[e]) pairs.push_back(pair_of(graph.sources[e], graph.destinations[e]));
  oneapi::tbb::parallel_sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

/// [pairs] kTrainLinks, kValidLinks, kTestLinks or kNoPart.
std::vector<std::uint8_t> part_of_pairs(std::size_t count, const std::vector<double>& fractions,
                                        std::uint32_t rng_seed) {
  const std::array<std::size_t, 3> ends = part_ends(count, {fractions[0], fractions[1], fractions[2]});
  const std::vector<NodeId> order = items_by_key(count, rng_seed, kEdgeSplitTag);
  std::vector<std::uint8_t> part_of(count, kNoPart);
  std::size_t at = 0;
  for (std::uint8_t part = 0; part < ends.size(); ++part)
    for (; at < ends[part]; ++at) part_of[order[at]] = part;
  return part_of;
}

template <class T>
void move_down(std::vector<T>& values, std::size_t to, std::size_t from) {
  if (!values.empty()) values[to] = values[from];
}

/// Rows of features likewise.
void move_row_down(RawFeatures& features, std::size_t to, std::size_t from) {
  if (features.dim == 0 || to == from) return;
  const std::size_t row_bytes = static_cast<std::size_t>(features.dim) * size_of(features.type);
  std::memcpy(features.rows.data() + to * row_bytes, features.rows.data() + from * row_bytes, row_bytes);
}

template <class T>
void cut(std::vector<T>& values, std::size_t count) {
  if (values.empty()) return;
  values.resize(count);
  values.shrink_to_fit();
}

void say_what_is_left_out(const RawGraph& graph, std::uint64_t self_loops, std::uint64_t without_part) {
  if (self_loops > 0)
    log_info(graph.source_path + ": " + std::to_string(self_loops) + " self loops are no links and are left out");
  if (without_part > 0)
    log_warning(graph.source_path + ": the fractions of the edge split leave out " + std::to_string(without_part) +
                " edges, which are neither links nor entries");
}

void require_classes(const RawGraph& graph) {
  if (graph.task != Task::kMultiClass)
    fail(ErrorKind::kUsage, graph.source_path + ": links are predicted beside classes of nodes or none, and it has " +
                                words_of(graph.task).of_node);
  graph.memory.check(graph.sources.size() * 2 * sizeof(std::uint64_t), graph.source_path);
}

/// Links of edges, by the part of their pair; edges become those of training links alone.
void make_links(RawGraph& graph, const std::vector<std::uint64_t>& pairs, const std::vector<std::uint8_t>& part_of) {
  std::vector<std::uint8_t> seen(pairs.size(), 0);  // bit 0: a link upwards, bit 1: one downwards; or both
  graph.has_links = true;
  std::uint64_t self_loops = 0, without_part = 0;
  std::size_t kept = 0;
  for (std::size_t e = 0; e < graph.sources.size(); ++e) {
    const NodeId source = graph.sources[e], destination = graph.destinations[e];
    if (source == destination) {
      ++self_loops;
      continue;
    }
    const auto pair =
        static_cast<std::size_t>(std::ranges::lower_bound(pairs, pair_of(source, destination)) - pairs.begin());
    const std::uint8_t part = part_of[pair];
    if (part == kNoPart) {
      ++without_part;
      continue;
    }
    const std::uint8_t directions = graph.symmetrise ? 3 : source < destination ? 1 : 2;
    if ((seen[pair] & directions) == 0) graph.links[part].insert(graph.links[part].end(), {source, destination});
    seen[pair] |= directions;
    if (part != kTrainLinks) continue;
    move_down(graph.sources, kept, e);
    move_down(graph.destinations, kept, e);
    move_down(graph.edge_values.weights, kept, e);
    move_down(graph.edge_values.times, kept, e);
    move_row_down(graph.edge_values.features, kept, e);
    ++kept;
  }
  cut(graph.sources, kept);
  cut(graph.destinations, kept);
  cut(graph.edge_values.weights, kept);
  cut(graph.edge_values.times, kept);
  cut(graph.edge_values.features.rows,
      kept * static_cast<std::size_t>(graph.edge_values.features.dim) * size_of(graph.edge_values.features.type));
  say_what_is_left_out(graph, self_loops, without_part);
}

/// Links of one given split, as they pass.
class GivenSplit {
 public:
  GivenSplit(const RawGraph& graph, RepeatsBetween between, GivenLinks& given, std::size_t part)
      : graph_(graph), between_(between), links_(given), part_(part) {}

  /// @param earlier  for each split before this one its pairs, ascending
  void pass(std::span<const std::vector<std::uint64_t>> earlier) {
    std::vector<NodeId>& ends = links_.ends[part_ - 1];
    std::vector<std::uint64_t>& kept_records = links_.kept[part_ - 1];
    const std::size_t count = ends.size() / 2;
    links_.num_records[part_ - 1] = count;
    const std::vector<std::uint8_t> is_again = repeats_within(ends);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const NodeId source = ends[2 * i], destination = ends[2 * i + 1];
      if (source == destination) {
        ++self_loops_;
        continue;
      }
      repeats_ += is_again[i];
      if (is_again[i] != 0 && between_ != RepeatsBetween::kKeep) continue;
      if (is_met(earlier, source, destination, i) && between_ == RepeatsBetween::kDrop) continue;
      ends[2 * kept] = source;
      ends[2 * kept + 1] = destination;
      kept_records.push_back(i);
      ++kept;
    }
    ends.resize(2 * kept);
    say();
  }

 private:
  std::uint64_t key_of(NodeId source, NodeId destination) const {
    return graph_.symmetrise ? pair_of(source, destination) : std::uint64_t{source} << 32 | destination;
  }

  /// [n] whether a link was met before in the split.
  std::vector<std::uint8_t> repeats_within(const std::vector<NodeId>& ends) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> keys(ends.size() / 2);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = {key_of(ends[2 * i], ends[2 * i + 1]), i};
    oneapi::tbb::parallel_sort(keys.begin(), keys.end());
    std::vector<std::uint8_t> is_again(keys.size(), 0);
    for (std::size_t i = 1; i < keys.size(); ++i) is_again[keys[i].second] = keys[i].first == keys[i - 1].first;
    return is_again;
  }

  bool is_met(std::span<const std::vector<std::uint64_t>> earlier, NodeId source, NodeId destination,
              std::size_t record) {
    constexpr std::array kNames = {"training", "validation"};
    for (std::size_t s = 0; s < earlier.size(); ++s)
      if (std::ranges::binary_search(earlier[s], pair_of(source, destination))) {
        if (num_met_++ == 0)
          first_ = "record " + std::to_string(record) + " (" + std::to_string(source) + ", " +
                   std::to_string(destination) + ") is also a " + kNames[s] + " link";
        return true;
      }
    return false;
  }

  void say() const {
    const std::string& file = links_.files[part_ - 1];
    if (self_loops_ > 0)
      log_info(file + ": " + std::to_string(self_loops_) + " self loops are no links and are left out");
    if (repeats_ > 0)
      log_info(file + ": " + std::to_string(repeats_) + " links were met before in it and are " +
               (between_ == RepeatsBetween::kKeep ? "kept" : "left out"));
    if (num_met_ == 0) return;
    const std::string text = file + ": " + first_ + ", in this direction or the other, as " + std::to_string(num_met_) +
                             (num_met_ == 1 ? " link is" : " links are");
    if (between_ == RepeatsBetween::kRefuse)
      fail(ErrorKind::kBadData, text + "; they may be dropped from the later split, or kept");
    log_warning(text + (between_ == RepeatsBetween::kKeep ? "; they stay, and a model has seen them"
                                                          : "; they are left out of it"));
  }

  const RawGraph& graph_;
  const RepeatsBetween between_;
  GivenLinks& links_;
  const std::size_t part_;
  std::uint64_t self_loops_ = 0, repeats_ = 0, num_met_ = 0;
  std::string first_{};
};

std::vector<std::uint64_t> pairs_of(const std::vector<NodeId>& ends) {
  std::vector<std::uint64_t> pairs(ends.size() / 2);
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = pair_of(ends[2 * i], ends[2 * i + 1]);
  oneapi::tbb::parallel_sort(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace

void split_edges(RawGraph& graph, const std::vector<double>& fractions) {
  require(fractions.size() == 3, "a split has three parts");
  require_classes(graph);
  const std::vector<std::uint64_t> pairs = distinct_pairs(graph);
  if (pairs.empty()) fail(ErrorKind::kBadData, graph.source_path + ": no edge between two nodes that could be a link");
  const std::vector<std::uint8_t> part_of = part_of_pairs(pairs.size(), fractions, graph.rng_seed);
  if (std::ranges::count(part_of, kTrainLinks) == 0)
    fail(ErrorKind::kBadData,
         graph.source_path + ": the edge split of " + std::to_string(pairs.size()) + " pairs leaves none to train on");
  make_links(graph, pairs, part_of);
}

void take_given_links(RawGraph& graph, GivenLinks& given, RepeatsBetween between) {
  require_classes(graph);
  std::array<std::vector<std::uint64_t>, 2> earlier = {distinct_pairs(graph)};
  if (earlier[0].empty())
    fail(ErrorKind::kBadData, graph.source_path + ": no edge between two nodes that could be a link to train on");
  make_links(graph, earlier[0], std::vector<std::uint8_t>(earlier[0].size(), kTrainLinks));
  GivenSplit(graph, between, given, kValidLinks).pass(std::span(earlier).first(1));
  earlier[1] = pairs_of(given.ends[0]);
  GivenSplit(graph, between, given, kTestLinks).pass(earlier);
  graph.links[kValidLinks] = std::move(given.ends[0]);
  graph.links[kTestLinks] = std::move(given.ends[1]);
}

}  // namespace salient
