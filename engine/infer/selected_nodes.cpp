// engine/infer/selected_nodes.cpp - see selected_nodes.h.
#include "engine/infer/selected_nodes.h"

#include <cstdint>
#include <numeric>
#include <span>

#include "core/error.h"
#include "core/files/npy.h"

namespace salient {
namespace {

std::vector<NodeId> nodes_in(const std::filesystem::path& path, std::size_t num_nodes) {
  const NpyFile file(path);
  const NpyHeader& header = file.header();
  const auto refuse = [&](const std::string& why) { fail(ErrorKind::kBadData, file.name() + ": " + why); };
  if (header.shape.size() != 1 || (header.kind != 'i' && header.kind != 'u'))
    refuse("holds " + header.dtype() + " of shape " + header.shape_text() + ", expected a list of integer node ids");
  std::vector<std::int64_t> ids(header.num_items());
  convert_to_int64(header, file.data().data(), ids.size(), ids.data());
  std::vector<NodeId> nodes;
  nodes.reserve(ids.size());
  std::vector<bool> is_taken(num_nodes, false);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<std::uint64_t>(ids[i]);  // negative ones are beyond any graph
    if (id >= num_nodes)
      refuse("entry " + std::to_string(i) + " is " + std::to_string(ids[i]) + ", the graph has nodes 0 to " +
             std::to_string(num_nodes - 1));
    if (is_taken[id]) refuse("node " + std::to_string(id) + " is listed again at entry " + std::to_string(i));
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
