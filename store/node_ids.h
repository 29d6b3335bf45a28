// store/node_ids.h - what the source of a data set calls its nodes: numbers or text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "store/dataset.h"

namespace salient {

/// The ids of a store's original_ids.npy, or node_names.npy and node_names_begin.npy. Maps them; copies share.
class NodeIds {
 public:
  NodeIds() = default;  ///< none: nodes have their numbers alone

  /// Of a store that open_dataset() has opened. None if it has none. @throws as open_dataset()
  static NodeIds open(const std::filesystem::path& directory);

  /// The same of an opened data set; none if it was generated.
  static NodeIds of(const Dataset& dataset);

  /// Of ids in memory. @param names  not empty
  static NodeIds of_numbers(std::vector<std::uint64_t> numbers);
  static NodeIds of_names(const std::vector<std::string>& names);

  /// Those of the nodes from `first` on, which are 0, 1, ... in the result.
  NodeIds part(NodeId first, std::size_t count) const;

  bool empty() const { return numbers_.empty() && begin_.empty(); }
  std::string operator[](NodeId node) const;  ///< not empty()

  /// Of all nodes, if ids are numbers; else empty.
  std::span<const std::uint64_t> numbers() const { return numbers_; }
  /// If ids are text.
  std::string_view name(NodeId node) const;

 private:
  std::span<const std::uint64_t> numbers_{};
  std::span<const std::int64_t> begin_{};  ///< name v is text_[begin_[v]] to text_[begin_[v + 1]]
  std::span<const std::uint8_t> text_{};
  std::shared_ptr<const void> storage_{};
};

}  // namespace salient
