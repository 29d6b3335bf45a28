// prepare/partitioning/partition.cpp - see partition.h.
#include "prepare/partitioning/partition.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/error.h"
#include "core/files/npy.h"
#include "core/files/value_rules.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/table_line.h"
#include "prepare/formats/text_fields.h"
#include "prepare/partitioning/level_graph.h"
#include "prepare/partitioning/refine_parts.h"
#include "store/parts.h"

namespace salient {
namespace {

constexpr std::size_t kNodesPerPart = 64;   // at the coarsest level, roughly
constexpr std::size_t kGroupsPerPart = 24;  // a group is at most so small a piece of a part
constexpr double kLeastShrink = 0.95;       // a coarser level must have fewer nodes than this share

struct Level {
  LevelGraph graph;
  std::vector<NodeId> group{};  ///< of each node in the next, coarser level
};

WeightSum group_limit(const WeightSum& total, std::size_t num_parts) {
  WeightSum limit;
  for (std::size_t i = 0; i < kNumWeights; ++i)
    limit[i] = std::max<std::uint64_t>(1, total[i] / (num_parts * kGroupsPerPart));
  return limit;
}

/// From the data set itself to a graph that is small, or that no grouping makes smaller.
std::vector<Level> coarsen(const Dataset& dataset, std::size_t num_parts) {
  std::vector<Level> levels;
  levels.push_back({finest_level(dataset)});
  const WeightSum limit = group_limit(total_weight(levels[0].graph), num_parts);
  while (levels.back().graph.num_nodes() > num_parts * kNodesPerPart) {
    Level& fine = levels.back();
    std::vector<NodeId> group = find_groups(fine.graph, limit);
    const std::size_t num_groups = group.empty() ? 0 : std::size_t{std::ranges::max(group)} + 1;
    if (static_cast<double>(num_groups) > kLeastShrink * static_cast<double>(group.size())) break;
    LevelGraph coarse = contract(fine.graph, group, num_groups);
    fine.group = std::move(group);
    levels.push_back({std::move(coarse)});
  }
  return levels;
}

Owners read_part_lines(const std::filesystem::path& path, std::size_t num_nodes, std::int64_t limit) {
  LineReader reader(path);
  Owners owner;
  owner.reserve(num_nodes);
  for (std::string_view line; reader.next(line);) {
    std::uint64_t part = 0;
    if (owner.size() == num_nodes)
      fail_at_line(path, reader.line_number(), line, "the graph has " + std::to_string(num_nodes) + " nodes");
    if (!parse_id(line, part) || part >= static_cast<std::uint64_t>(limit))
      fail_at_line(path, reader.line_number(), line, "parts are 0 to " + std::to_string(limit - 1));
    owner.push_back(static_cast<std::uint16_t>(part));
  }
  if (owner.size() < num_nodes)
    fail(ErrorKind::kBadData, path.string() + ": has " + std::to_string(owner.size()) + " lines, the graph has " +
                                  std::to_string(num_nodes) + " nodes");
  return owner;
}

}  // namespace

Owners range_parts(std::size_t num_nodes, int num_parts) {
  Owners owner(num_nodes);
  for (std::size_t v = 0; v < num_nodes; ++v)
    owner[v] = static_cast<std::uint16_t>(v * static_cast<std::size_t>(num_parts) / num_nodes);
  return owner;
}

Owners range_parts(const Dataset& dataset, int num_parts) {
  if (dataset.slots == nullptr) return range_parts(dataset.num_nodes(), num_parts);
  Owners owner;
  for (std::size_t t = 0; t < dataset.slots->num_types(); ++t)
    std::ranges::copy(range_parts(dataset.slots->num_nodes_of(t), num_parts), std::back_inserter(owner));
  return owner;
}

Owners cluster_parts(const Dataset& dataset, int num_parts) {
  std::vector<Level> levels = coarsen(dataset, static_cast<std::size_t>(num_parts));
  Owners owner = deal_parts(levels.back().graph, num_parts);
  for (std::size_t level = levels.size() - 1; level-- > 0;) {
    levels.pop_back();  // the coarser one
    const Level& fine = levels[level];
    Owners finer(fine.graph.num_nodes());
    for (std::size_t v = 0; v < finer.size(); ++v) finer[v] = owner[fine.group[v]];
    owner = std::move(finer);
    refine_parts(fine.graph, num_parts, owner);
  }
  return owner;
}

Owners read_parts(const std::filesystem::path& path, std::size_t num_nodes, int num_parts) {
  const std::int64_t limit = num_parts > 0 ? num_parts : kMaxParts;
  if (path.extension() != ".npy") return read_part_lines(path, num_nodes, limit);
  const NpyFile file(path);
  const NpyHeader& header = file.header();
  if (header.shape.size() != 1 || header.shape[0] != num_nodes || (header.kind != 'i' && header.kind != 'u'))
    fail(ErrorKind::kBadData, file.name() + ": " + header.dtype() + " " + header.shape_text() +
                                  ", expected whole numbers (" + std::to_string(num_nodes) + ",), a part per node");
  const std::vector<std::uint64_t> parts = ids_of(file);
  const auto bad = std::ranges::find_if(parts, [&](std::uint64_t part) { return part >= std::uint64_t(limit); });
  if (bad != parts.end())
    fail_at_item(file.name(), static_cast<std::uint64_t>(bad - parts.begin()), std::to_string(*bad),
                 "parts are 0 to " + std::to_string(limit - 1));
  return {parts.begin(), parts.end()};
}

}  // namespace salient
