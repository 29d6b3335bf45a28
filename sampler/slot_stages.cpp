// sampler/slot_stages.cpp - see slot_stages.h.
#include "sampler/slot_stages.h"

#include <limits>
#include <utility>

#include "core/error.h"

namespace salient {

SlotStages::SlotStages(CsrGraph graph, SamplingRule rule) : HopStages(graph, std::move(rule)) {
  require(are_relation_fanouts(rule_), "a relation's fanouts are one for each hop, in [0, 2^16), or -1 for all");
  const std::size_t num_relations = graph_.slots != nullptr ? graph_.slots->relations.size() : 0;
  require(rule_.relation_fanouts.empty() || rule_.relation_fanouts.size() == num_relations,
          "every relation of a typed graph has fanouts, or none has");
}

void SlotStages::forget_slots() {
  slots_of_.clear();
  type_of_.clear();
}

void SlotStages::list_slots(std::uint32_t hop_number, MfgHop& hop) {
  const SlotTable& table = *graph_.slots;
  for (std::size_t i = type_of_.size(); i < map_.size(); ++i) {
    const NodeId node = map_.ids()[i];
    const std::size_t type = table.type_of(node);
    type_of_.push_back(static_cast<std::uint8_t>(type));
    slots_of_.push_back(table.row_of(type, node, 0));
  }
  hop.row_begin.resize(map_.size() + 1);
  hop.row_begin[0] = 0;
  hop.row_relation.clear();
  for (std::size_t i = 0; i < map_.size(); ++i) {
    const auto begin = table.relations.begin();
    hop.row_relation.insert(hop.row_relation.end(), begin + table.relation_begin[type_of_[i]],
                            begin + table.relation_begin[type_of_[i] + std::size_t{1}]);
    hop.row_begin[i + 1] = static_cast<LocalId>(hop.row_relation.size());
  }
  require_countable_slots(hop_number, hop);
}

/// As require_countable(); rows have 31 bits, too. It looks at them only where the fanouts do not settle it.
void SlotStages::require_countable_slots(std::uint32_t hop_number, const MfgHop& hop) const {
  constexpr std::uint64_t kMost = std::numeric_limits<LocalId>::max();
  const auto num_rows = hop.row_relation.size();
  std::uint64_t most_of_row = 0;
  for (std::size_t r = 0; r < graph_.slots->relations.size(); ++r)
    most_of_row = std::max<std::uint64_t>(most_of_row, static_cast<std::uint32_t>(rule_.fanout_of(r, hop_number)));
  std::uint64_t num_nodes = map_.size() + num_rows * (most_of_row + 1);
  if (num_nodes <= kMost) return;
  num_nodes = map_.size();
  for (std::size_t i = 0; i < map_.size(); ++i)
    for (auto r = static_cast<std::size_t>(hop.row_begin[i]); r < static_cast<std::size_t>(hop.row_begin[i + 1]); ++r)
      num_nodes += num_kept(graph_.degree(slots_of_[i] + r - static_cast<std::size_t>(hop.row_begin[i])),
                            rule_.fanout_of(hop.row_relation[r], hop_number));
  if (num_nodes > kMost || num_rows > kMost)
    fail(ErrorKind::kUsage, "a batch with 2^31 edges or more in one hop", Topic::kBatch);
}

std::size_t SlotStages::slot_lane(std::size_t row, BatchKey key) {
  constexpr std::size_t kLanes = DrawLanes::kLanes;
  if (row >= lanes_end_) {
    NodeId dst[kLanes];
    std::uint32_t words[kLanes];
    int most = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t at = std::min(row + lane, rows_.size() - 1);
      dst[lane] = rows_[at].dst;
      words[lane] = slot_rules_[at].word;
      most = std::max(most, slot_rules_[at].fanout);
    }
    lanes_.fill(key, words, dst, static_cast<std::uint32_t>(most));
    lanes_end_ = row + kLanes;
  }
  return row + kLanes - lanes_end_;
}

}  // namespace salient
