// prepare/importers/graphbolt_layout.h - what the metadata.yaml of an OnDiskDataset says, of it that we read.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "prepare/importers/typed_options.h"

namespace salient {

/// Nodes of one type that a set has, and their labels.
struct GraphBoltSet {
  std::string type{};
  std::filesystem::path seeds{}, labels{};
};

struct GraphBoltLayout {
  std::filesystem::path file{};                     ///< metadata.yaml
  std::string name{};                               ///< or ""
  std::vector<NodeSource> nodes{};                  ///< with counts, and the file of the features if there is one
  std::vector<EdgeSource> edges{};                  ///< of a graph of one type without names
  int num_classes = 0;                              ///< or 0: not said
  std::array<std::vector<GraphBoltSet>, 3> sets{};  ///< training, validation, test

  bool is_typed() const { return !nodes.front().type.empty(); }
};

/// @param task, feature  names, "" = the first, and feat or the only one
/// @throws as import_graphbolt(); no file but metadata.yaml is read
GraphBoltLayout read_graphbolt_layout(const std::filesystem::path& dir, const std::string& task,
                                      const std::string& feature);

}  // namespace salient
