// sampler/mfg_types.h - a message-flow graph of a typed graph by types and relations: what typed layers read of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/slot_table.h"
#include "sampler/mfg.h"

namespace salient {

/// Where the parts of a hop go that a plain graph's lacks; see TypedHopShape.
struct TypedHopMemory {
  LocalId* row_begin = nullptr;      ///< [num_dst + 1] the first row of each destination
  LocalId* row_dst = nullptr;        ///< [num_rows] the destination of each row
  LocalId* relation_rows = nullptr;  ///< [relation_begin[R]] the rows with entries, by relation, ascending
};

/// Counts, then writes. One thread's scratch memory: keep it.
class MfgTypes {
 public:
  /// Sets the typed parts of `shape`. @param mfg  of a graph with these slots
  /// Cost: log T for each node, and a pass over the rows.
  void count(const Mfg& mfg, const SlotTable& slots, MfgShape& shape);

  /// The same where types are known otherwise. @param type_of_node  [N]
  void count(const Mfg& mfg, const SlotTable& slots, std::vector<std::uint8_t> type_of_node, MfgShape& shape);

  /// Writes what was counted last.
  /// @param hops   [L]
  /// @param nodes  [T] for each type [num_nodes_of_type] numbers of its nodes, ascending
  void copy_to(const Mfg& mfg, const MfgShape& shape, std::span<const TypedHopMemory> hops,
               std::span<LocalId* const> nodes) const;

 private:
  std::vector<std::uint8_t> type_of_;  ///< [N]
};

}  // namespace salient
