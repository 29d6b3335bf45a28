// prepare/importers/name_map.h - names in the order of their first appearance, and the number of each.
//
// By hand: std::unordered_map of strings takes about 90 bytes a name; this takes the characters and 16 to 24.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "prepare/importers/memory_limit.h"
#include "prepare/importers/name_table.h"

namespace salient {

class NameMap {
 public:
  NameMap() = default;
  explicit NameMap(const MemoryLimit& memory) : memory_(memory) {}

  /// The number of a name, the next one if it is new.
  /// @throws Error{kHostMemory} before it outgrows the limit; Error{kBadData} for more names than nodes can be
  NodeId add(std::string_view name);
  std::optional<NodeId> find(std::string_view name) const;

  const NameTable& names() const { return names_; }
  std::size_t size() const { return names_.size(); }

  /// The names, and their memory. The map is empty then.
  NameTable take();

 private:
  std::size_t slot_of(std::string_view name) const;
  void grow();

  MemoryLimit memory_{};
  NameTable names_{};
  std::vector<NodeId> slots_{};  ///< a power of two of them, at most 3/4 in use; open addressing
};

}  // namespace salient
