// prepare/importers/numbered_nodes.cpp - see numbered_nodes.h.
#include "prepare/importers/numbered_nodes.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "core/error.h"
#include "prepare/formats/table_line.h"

namespace salient {

namespace fs = std::filesystem;

void require_ids(const NodeIndex& index, const std::vector<std::uint64_t>& ids, const fs::path& path,
                 const std::string& rule) {
  for (const std::uint64_t id : ids)
    if (!index.find(id)) fail(ErrorKind::kBadData, path.string() + ": node " + std::to_string(id) + rule);
}

std::vector<NodeId> nodes_of(const NodeIndex& index, const std::vector<std::uint64_t>& ids, const fs::path& path,
                             const MemoryLimit& memory) {
  memory.check(sizeof(NodeId) * ids.size(), path.string());
  std::vector<NodeId> nodes(ids.size());
  std::atomic<bool> are_known = true;
  oneapi::tbb::parallel_for(std::size_t{0}, ids.size(), [&](std::size_t i) {
    const std::optional<NodeId> node = index.find(ids[i]);
    if (node)
      nodes[i] = *node;
    else
      are_known = false;
  });
  if (!are_known) require_ids(index, ids, path, ", which no table of nodes has");
  return nodes;
}

std::vector<NodeId> distinct_nodes_of(const NodeIndex& index, const std::vector<std::uint64_t>& ids,
                                      const fs::path& path, const MemoryLimit& memory) {
  std::vector<NodeId> nodes = nodes_of(index, ids, path, memory);
  std::vector<std::uint8_t> has_row(index.num_nodes(), 0);
  for (const NodeId node : nodes)
    if (std::exchange(has_row[node], 1) != 0)
      fail(ErrorKind::kBadData,
           path.string() + ": node " +
               std::to_string(ids[static_cast<std::size_t>(std::ranges::find(nodes, node) - nodes.begin())]) +
               " has two lines");
  return nodes;
}

std::function<bool(std::string_view)> one_of(std::vector<std::uint64_t> ids) {
  std::ranges::sort(ids);
  return [ids = std::move(ids)](std::string_view text) {
    std::uint64_t number = 0;
    return parse_id(text, number) && std::ranges::binary_search(ids, number);
  };
}

}  // namespace salient
