// engine/infer/selected_nodes.cpp - see selected_nodes.h.
#include "engine/infer/selected_nodes.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "core/error.h"
#include "core/files/npy.h"
#include "core/files/value_rules.h"

namespace salient {
namespace {

std::vector<NodeId> nodes_of_mask(const NpyFile& file) {
  std::vector<NodeId> nodes;
  for (std::size_t v = 0; v < file.data().size(); ++v)
    if (file.data()[v] != std::byte{0}) nodes.push_back(static_cast<NodeId>(v));
  return nodes;
}

std::vector<NodeId> nodes_in(const std::filesystem::path& path, std::size_t num_nodes) {
  const NpyFile file(path);
  const NpyHeader& header = file.header();
  const auto refuse = [&](const std::string& why) { fail(ErrorKind::kBadData, file.name() + ": " + why); };
  const bool is_list = header.shape.size() == 1;
  if (is_list && header.kind == 'b' && header.shape[0] == num_nodes) return nodes_of_mask(file);
  if (!is_list || (header.kind != 'i' && header.kind != 'u'))
    refuse("holds " + header.dtype() + " of shape " + header.shape_text() +
           ", expected a list of integer node ids, or a bool for each of the " + std::to_string(num_nodes) + " nodes");
  std::vector<NodeId> nodes;
  std::vector<bool> is_taken(num_nodes, false);
  for (const std::uint64_t id : ids_of(file)) {
    const std::size_t position = nodes.size();
    if (id >= num_nodes) fail_at_item(file.name(), position, std::to_string(id), no_node(id, num_nodes));
    if (is_taken[id]) refuse("node " + std::to_string(id) + " is listed again at item " + std::to_string(position));
    is_taken[id] = true;
    nodes.push_back(static_cast<NodeId>(id));
  }
  return nodes;
}

}  // namespace

std::vector<NodeId> select_nodes(const Dataset& dataset, const std::string& what) {
  std::vector<NodeId> nodes;
  if (what == "all") {
    nodes.resize(dataset.num_nodes());
    std::iota(nodes.begin(), nodes.end(), NodeId{0});
  } else if (what.ends_with(".npy")) {
    nodes = nodes_in(what, dataset.num_nodes());
  } else {
    const std::span<const NodeId> split = what == "train"   ? dataset.train
                                          : what == "valid" ? dataset.valid
                                                            : dataset.test;
    nodes.assign(split.begin(), split.end());
  }
  if (nodes.empty()) fail(ErrorKind::kUsage, "the selection '" + what + "' has no nodes", Topic::kMissingSplit);
  return nodes;
}

}  // namespace salient
