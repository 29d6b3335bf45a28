// sampler/excluding_sampler.cpp - see excluding_sampler.h.
//
// Stage "rows" shortens a row by what is excluded of it, and stage "pick" turns ranks into places; all else is as in
// neighbor_sampler.cpp. In a weighted draw excluded entries have weight 0 instead, as such are in no race.
#include "sampler/excluding_sampler.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace salient {

ExcludingSampler::ExcludingSampler(CsrGraph graph, SamplingRule rule) : SlotStages(graph, std::move(rule)) {
  require_rows_of_exclusions(graph_);
}

void ExcludingSampler::sample(std::span<const NodeId> seeds, BatchKey key, const Exclusions& excluded, Mfg& mfg) {
  map_.clear(std::move(mfg.nodes));
  number_seeds(map_, graph_, seeds);
  const std::size_t num_hops = rule_.fanouts.size();
  mfg.hops.resize(num_hops);
  forget_slots();
  for (std::size_t h = 0; h < num_hops; ++h) {
    MfgHop& hop = mfg.hops[num_hops - 1 - h];
    hop.num_dst = static_cast<LocalId>(map_.size());
    if (graph_.slots != nullptr)
      sample_slots_without(static_cast<std::uint32_t>(h), key, excluded, hop);
    else
      sample_hop_without(static_cast<std::uint32_t>(h), key, excluded, hop);
  }
  mfg.nodes = map_.take_ids();
}

void ExcludingSampler::sample_hop_without(std::uint32_t hop_number, BatchKey key, const Exclusions& excluded,
                                          MfgHop& hop) {
  const int fanout = rule_.fanouts[hop_number];
  const auto kept_of = [&](std::uint32_t degree) { return num_kept(degree, fanout); };
  require_countable(graph_, map_.ids(), fanout, kept_of);  // of whole rows
  sample_hop(
      map_, map_.size(), hop, [&](std::size_t first) { return read_rows(first, fanout, excluded, hop); },
      [&](std::size_t i, const Row& row, std::uint32_t count, const NodeId** picked) {
        const auto dst_of = [&](std::size_t at) { return map_.ids()[std::min(at, map_.size() - 1)]; };
        const auto lane_of = [&] { return draw_lane(i, key, hop_number, count, dst_of); };
        pick_from(row, count, {key, hop_number, keeps_fanout_of_any_row(fanout, rule_.draw)}, lane_of, picked);
      },
      [](const NodeId* entry, std::size_t) { return *entry; });
}

void ExcludingSampler::sample_slots_without(std::uint32_t hop_number, BatchKey key, const Exclusions& excluded,
                                            MfgHop& hop) {
  list_slots(hop_number, hop);
  std::size_t dst = 0;
  const auto read = [&](std::size_t first) {
    excluded_of_.clear();
    return read_slots(
        first, hop_number, dst, hop,
        [&](std::size_t row) {
          excluded_of_.push_back(excluded.of(static_cast<std::uint32_t>(row)));
          return graph_.degree(row) - static_cast<std::uint32_t>(excluded_of_.back().size());
        },
        [&](std::size_t i) { return drawable_weights(i); });
  };
  sample_hop(
      map_, hop.row_relation.size(), hop, read,
      [&](std::size_t, const Row& row, std::uint32_t count, const NodeId** picked) {
        const auto at = static_cast<std::size_t>(&row - rows_.data());
        const auto [word, fanout] = slot_rules_[at];
        const auto lane_of = [&] { return slot_lane(at, key); };
        pick_from(row, count, {key, word, keeps_fanout_of_any_row(fanout, rule_.draw)}, lane_of, picked);
      },
      [](const NodeId* entry, std::size_t) { return *entry; });
}

/// As NeighborSampler's, of rows without what is excluded.
std::span<const ExcludingSampler::Row> ExcludingSampler::read_rows(std::size_t first, int fanout,
                                                                   const Exclusions& excluded, MfgHop& hop) {
  const std::span<const NodeId> dst = map_.ids().first(static_cast<std::size_t>(hop.num_dst));
  const std::size_t end = std::min(first + kBlockRows, dst.size());
  const auto limit = static_cast<std::uint32_t>(fanout);  // kAllNeighbors: none
  rows_.clear();
  excluded_of_.clear();
  LocalId num_edges = hop.indptr[first];
  for (std::size_t i = first; i < end; ++i) {
    if (i + kRowsAhead < dst.size()) __builtin_prefetch(&graph_.indptr[dst[i + kRowsAhead]]);
    const std::uint32_t degree = graph_.degree(dst[i]);
    excluded_of_.push_back(excluded.of(dst[i]));
    const std::span<const std::uint32_t> places = excluded_of_.back();
    rows_.push_back({graph_.row(dst[i]).data(), degree - static_cast<std::uint32_t>(places.size()), dst[i]});
    if (rule_.draw == Draw::kLabor) prefetch_start(rows_.back().begin, degree);
    if (rule_.draw == Draw::kWeighted) prefetch_start(weights_of(rows_.back()).data(), degree);
    num_edges += static_cast<LocalId>(num_kept(rows_.back().degree, fanout));
    hop.indptr[i + 1] = num_edges;
  }
  if (rule_.draw == Draw::kWeighted) {
    num_edges = hop.indptr[first];
    for (std::size_t i = first; i < end; ++i) {
      num_edges += static_cast<LocalId>(num_drawable(drawable_weights(i - first), limit));
      hop.indptr[i + 1] = num_edges;
    }
  }
  hop.indices.resize(std::max(hop.indices.size(), static_cast<std::size_t>(hop.indptr[end])));
  return rows_;
}

template <class LaneOf>
void ExcludingSampler::pick_from(const Row& row, std::uint32_t count, const Drawing& how, const LaneOf& lane_of,
                                 const NodeId** picked) {
  const std::span<const std::uint32_t> places = excluded_of_[static_cast<std::size_t>(&row - rows_.data())];
  if (places.empty()) return pick_row(row, count, how, lane_of, picked);
  pick_rest(row, places, count, how, lane_of, picked);
}

template <class LaneOf>
void ExcludingSampler::pick_rest(const Row& row, std::span<const std::uint32_t> places, std::uint32_t count,
                                 const Drawing& how, const LaneOf& lane_of, const NodeId** picked) {
  if (count == 0) return;
  if (rule_.draw == Draw::kWeighted) {
    const std::span<const float> weights = weights_without(row, places);
    return race_.pick({row.begin, weights.data(), 0, static_cast<std::uint32_t>(weights.size())}, count,
                      {how.key, how.word, row.dst}, picked);
  }
  // labor compares the neighbours themselves; other draws are of ranks alone
  const NodeId* const first = rule_.draw == Draw::kLabor ? entries_without(row, places).data() : row.begin;
  pick_row({first, row.degree, row.dst}, count, how, lane_of, picked);
  for (std::uint32_t i = 0; i < count; ++i)
    picked[i] = row.begin + place_of_rank(static_cast<std::uint32_t>(picked[i] - first), places);
}

/// Of row i of the block: those of its entries, 0 where one is excluded.
std::span<const float> ExcludingSampler::drawable_weights(std::size_t i) {
  return excluded_of_[i].empty() ? weights_of(rows_[i]) : weights_without(rows_[i], excluded_of_[i]);
}

/// Of the whole row, 0 where an entry is excluded.
std::span<const float> ExcludingSampler::weights_without(const Row& row, std::span<const std::uint32_t> places) {
  const std::span<const float> weights =
      weights_of({row.begin, row.degree + static_cast<std::uint32_t>(places.size()), row.dst});
  weights_.assign(weights.begin(), weights.end());
  for (const std::uint32_t place : places) weights_[place] = 0;
  return weights_;
}

std::span<const NodeId> ExcludingSampler::entries_without(const Row& row, std::span<const std::uint32_t> places) {
  entries_.resize(row.degree);
  for (std::uint32_t rank = 0; rank < row.degree; ++rank) entries_[rank] = row.begin[place_of_rank(rank, places)];
  return entries_;
}

}  // namespace salient
