// sampler/hop_stages.h - the stages of a hop that all samplers of the host have, and their memory.
//
// Stages "rows" and "number" differ: neighbor_sampler.cpp has them, and says how stages work together and why;
// temporal_sampler.cpp has those of graphs whose entries have times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/csr_graph.h"
#include "core/error.h"
#include "sampler/draw_lanes.h"
#include "sampler/draws.h"
#include "sampler/id_map.h"
#include "sampler/labor_choice.h"
#include "sampler/mfg.h"
#include "sampler/pick.h"
#include "sampler/race_choice.h"
#include "sampler/sampling_rule.h"
#include "sampler/taken_positions.h"

namespace salient {

inline constexpr std::size_t kRowsAhead = 32;  // prefetch distance for row bounds

/// Of a row that is read from end to end: the first lines, after which the processor sees what comes.
template <class T>
void prefetch_start(const T* row, std::uint32_t degree) {
  static_assert(sizeof(T) == 4, "16 in a cache line");
  constexpr std::uint32_t kLine = 16, kLines = 4;
  for (std::uint32_t i = 0; i < std::min(degree, kLines * kLine); i += kLine) __builtin_prefetch(row + i);
}

/// Local ids and edges of the next hop have 31 bits. It looks at the rows only where the fanout does not settle it.
/// @param dst       the destinations; the low half of a key is its node
/// @param num_kept  (entries of a row) -> those that it keeps
template <class Key, class NumKept>
void require_countable(const CsrGraph& graph, std::span<const Key> dst, int fanout, NumKept num_kept) {
  constexpr std::uint64_t kMost = std::numeric_limits<LocalId>::max();
  std::uint64_t num_nodes = dst.size() * (std::uint64_t{static_cast<std::uint32_t>(fanout)} + 1);
  if (num_nodes <= kMost) return;
  num_nodes = dst.size();
  for (std::size_t i = 0; i < dst.size(); ++i) {
    if (i + kRowsAhead < dst.size()) __builtin_prefetch(&graph.indptr[static_cast<NodeId>(dst[i + kRowsAhead])]);
    num_nodes += num_kept(graph.degree(static_cast<NodeId>(dst[i])));
  }
  if (num_nodes > kMost) fail(ErrorKind::kUsage, "a batch with 2^31 edges or more in one hop", Topic::kBatch);
}

/// Numbers the seeds, as the first. @throws Error{kInternal} unless they are distinct nodes
inline void number_seeds(IdMap& map, const CsrGraph& graph, std::span<const NodeId> seeds) {
  for (const NodeId seed : seeds) {
    require(seed < graph.num_nodes(), "a seed is a node of the graph");
    LocalId number;
    map.number_all({&seed, 1}, &number);
  }
  require(map.size() == seeds.size(), "seeds are distinct");
}

/// By which draws a row is sampled.
struct Drawing {
  BatchKey key;
  std::uint32_t word;  ///< in the place of the hop
  bool may_repeat;
  std::uint32_t first_place = 0;  ///< of HopStages::Row::begin in its row
};

class HopStages {
 public:
  /// From now on hops have MfgHop::places. The rest of a sample is the same.
  void record_places() { records_places_ = true; }

 protected:
  static constexpr std::size_t kBlockRows = 256;
  static constexpr std::size_t kGroupEdges = 16;

  /// What entries are drawn from: a row, or a part of it.
  struct Row {
    const NodeId* begin;
    std::uint32_t degree;
    NodeId dst;
  };

  /// @throws Error{kInternal} unless are_fanouts(); Error{kUsage} for draws by weights that the graph does not have
  HopStages(CsrGraph graph, SamplingRule rule) : graph_(graph), rule_(std::move(rule)) {
    require(are_fanouts(rule_.fanouts), "a fanout is in [1, 2^16), or -1 for all");
    if (rule_.draw == Draw::kWeighted && graph_.entries.weights.size() != graph_.indices.size())
      fail(ErrorKind::kUsage, "neighbours are to be drawn by weight, and the edges of this graph have no weights");
  }

  /// Entries that are kept of a row; of weighted draws at most.
  std::uint32_t num_kept(std::uint32_t degree, int fanout) const {
    const auto limit = static_cast<std::uint32_t>(fanout);  // kAllNeighbors becomes 2^32 - 1: no limit
    return keeps_fanout_of_any_row(fanout, rule_.draw) && degree > 0 ? limit : std::min(degree, limit);
  }

  std::span<const float> weights_of(const Row& row) const {
    return graph_.entries.weights.subspan(static_cast<std::size_t>(row.begin - graph_.indices.data()), row.degree);
  }

  /// Of the rows of a block, once their weights are on the way: how many entries are kept, as the hop's indptr.
  /// @param fanout_of  of a row of the block
  template <class FanoutOf>
  void count_drawable(std::size_t first, MfgHop& hop, FanoutOf fanout_of) const {
    LocalId num_edges = hop.indptr[first];
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto limit = static_cast<std::uint32_t>(fanout_of(i));  // kAllNeighbors: none
      num_edges += static_cast<LocalId>(num_drawable(weights_of(rows_[i]), limit));
      hop.indptr[first + i + 1] = num_edges;
    }
  }

  /// The lane that has the draws of row i. Rows that draw have equal counts; they come in ascending order.
  /// @param dst_of  of a row from i on; behind the last row of any, as its draws are not used
  template <class DstOf>
  std::size_t draw_lane(std::size_t i, BatchKey key, std::uint32_t hop, std::uint32_t count, DstOf dst_of) {
    constexpr std::size_t kLanes = DrawLanes::kLanes;
    if (i >= lanes_end_) {
      NodeId dst[kLanes];
      for (std::size_t lane = 0; lane < kLanes; ++lane) dst[lane] = dst_of(i + lane);
      lanes_.fill(key, hop, dst, count);
      lanes_end_ = i + kLanes;
    }
    return i + kLanes - lanes_end_;
  }

  /// Stage "pick" for one row. @param lane_of  gives the lane that has its draws, if there are any
  template <class LaneOf>
  void pick_row(const Row& row, std::uint32_t count, const Drawing& how, const LaneOf& lane_of, const NodeId** picked) {
    const auto [key, word, may_repeat, first_place] = how;
    if (count == 0 || (count == row.degree && !may_repeat)) return pick_all(row.begin, count, picked);
    switch (rule_.draw) {
      case Draw::kLabor: return labor_.pick({row.begin, row.degree}, count, key, word, picked);
      case Draw::kWeighted:
        return race_.pick(
            {row.begin - first_place, weights_of(row).data() - first_place, first_place, first_place + row.degree},
            count, {key, word, row.dst}, picked);
      case Draw::kUniform:
      case Draw::kWithReplacement: break;  // by numbers of the destination's own
    }
    Draws one_by_one(key, word, row.dst);
    const std::size_t lane = lane_of();
    const auto below = [&](std::uint32_t draw, std::uint32_t bound) {
      return lanes_.below(lane, draw, bound, one_by_one);
    };
    if (may_repeat)
      pick_with_replacement(row.begin, row.degree, count, below, picked);
    else if (count <= kFewKept)
      pick(row.begin, row.degree, count, below, picked);
    else
      pick_many(row.begin, row.degree, count, below, taken_, picked);
  }

  /// @param map     numbers what is met
  /// @param read    stage "rows" for a block: the rows from a number on, as many as a block has
  /// @param pick    stage "pick" for row i: writes the addresses of `count` of its entries
  /// @param key_of  an entry's address, and where it is in picked_ -> what the map numbers
  template <class Key, class Read, class Pick, class KeyOf>
  void sample_hop(KeyMap<Key>& map, std::size_t num_rows, MfgHop& hop, Read read, Pick pick, KeyOf key_of) {
    std::vector<Key>& fetched = std::get<std::vector<Key>>(fetched_);
    hop.indptr.resize(num_rows + 1);
    hop.indptr[0] = 0;
    lanes_end_ = 0;
    std::size_t num_picked = 0, num_fetched = 0, num_numbered = 0;
    hop.places.clear();
    const auto number_group = [&] {
      map.number_all({fetched.data(), num_fetched}, hop.indices.data() + num_numbered);
      num_numbered += num_fetched;
    };
    const auto fetch_group = [&] {
      for (std::size_t e = 0; e < num_picked; ++e) {
        fetched[e] = key_of(picked_[e], e);
        map.prefetch(fetched[e]);
      }
      if (records_places_)
        for (std::size_t e = 0; e < num_picked; ++e) hop.places.push_back(picked_[e] - graph_.indices.data());
      num_fetched = std::exchange(num_picked, 0);
    };
    for (std::size_t first = 0; first < num_rows; first += kBlockRows) {
      const std::span<const Row> rows = read(first);
      for (std::size_t i = first; i < first + rows.size(); ++i) {
        const auto count = static_cast<std::uint32_t>(hop.indptr[i + 1] - hop.indptr[i]);
        if (num_picked + count > picked_.size()) {
          picked_.resize(2 * (num_picked + count));
          fetched.resize(picked_.size());
        }
        pick(i, rows[i - first], count, picked_.data() + num_picked);
        num_picked += count;
        if (num_picked < kGroupEdges) continue;
        number_group();
        fetch_group();
      }
    }
    number_group();
    fetch_group();
    number_group();
    hop.indices.resize(num_numbered);
    hop.num_src = static_cast<LocalId>(map.size());
  }

  CsrGraph graph_;
  SamplingRule rule_;
  std::vector<Row> rows_;  // of one block
  LaborChoice labor_;
  RaceChoice race_;
  TakenPositions taken_;
  DrawLanes lanes_;  // the draws of rows [lanes_end_ - 8, lanes_end_), of a typed graph in their block
  std::size_t lanes_end_ = 0;
  std::vector<const NodeId*> picked_;  // of sample_hop(), as is the next

 private:
  std::tuple<std::vector<NodeId>, std::vector<std::uint64_t>> fetched_;
  bool records_places_ = false;
};

}  // namespace salient
