// prepare/importers/edge_split.cpp - see edge_split.h.
#include "prepare/importers/edge_split.h"

#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "prepare/importers/split.h"
#include "store/link_table.h"

namespace salient {
namespace {

constexpr std::uint32_t kEdgeSplitTag = 0x45535054;  // "ESPT"
constexpr std::uint8_t kNoPart = 3;

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

}  // namespace

void split_edges(RawGraph& graph, const std::vector<double>& fractions) {
  require(fractions.size() == 3, "a split has three parts");
  if (graph.task != Task::kMultiClass)
    fail(ErrorKind::kUsage, graph.source_path + ": links are predicted beside classes of nodes or none, and it has " +
                                words_of(graph.task).of_node);
  graph.memory.check(graph.sources.size() * 2 * sizeof(std::uint64_t), graph.source_path);
  const std::vector<std::uint64_t> pairs = distinct_pairs(graph);
  if (pairs.empty()) fail(ErrorKind::kBadData, graph.source_path + ": no edge between two nodes that could be a link");
  const std::vector<std::uint8_t> part_of = part_of_pairs(pairs.size(), fractions, graph.rng_seed);
  if (std::ranges::count(part_of, kTrainLinks) == 0)
    fail(ErrorKind::kBadData,
         graph.source_path + ": the edge split of " + std::to_string(pairs.size()) + " pairs leaves none to train on");
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

}  // namespace salient
