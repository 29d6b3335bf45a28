// engine/rank/known_links.h - which links are known of a node and a relation: what filtered ranks leave out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/enum_names.h"
#include "core/types.h"
#include "store/link_table.h"

namespace salient {

/// Which end of a link is asked for.
enum class LinkSide : std::uint8_t { kTail, kHead };
inline constexpr std::array<LinkSide, 2> kLinkSides = {LinkSide::kTail, LinkSide::kHead};

constexpr auto names_of(LinkSide) {
  return std::to_array<EnumName<LinkSide>>({{LinkSide::kTail, "tail"}, {LinkSide::kHead, "head"}});
}

/// The known links of some splits, by either end. Memory: 32 bytes a link.
class KnownLinks {
 public:
  KnownLinks() = default;
  /// @param splits         links without relations are of relation 0
  /// @param are_symmetric  the reverse of each is known, too: twice the memory
  explicit KnownLinks(std::span<const LinkTable> splits, bool are_symmetric = false);

  /// The ends on this side of the known links of a relation with `node` at their other end: ascending, each once.
  /// Cost: a binary search
  std::span<const NodeId> of(LinkSide side, std::uint16_t relation, NodeId node) const;

 private:
  struct ByNode {
    std::vector<std::uint64_t> keys{};  ///< relation and node, ascending, each once
    std::vector<std::size_t> begin{};   ///< [keys + 1]
    std::vector<NodeId> ends{};
  };
  static ByNode sorted(std::span<const LinkTable> splits, LinkSide side, bool are_symmetric);

  std::array<ByNode, 2> by_node_{};
};

}  // namespace salient
