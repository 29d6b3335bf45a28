// sampler/excluding_sampler.cpp - see excluding_sampler.h.
//
// Stage "rows" shortens a row by what is excluded of it, and stage "pick" turns ranks into places; all else is as in
// neighbor_sampler.cpp. In a weighted draw excluded entries have weight 0 instead, as such are in no race.
#include "sampler/excluding_sampler.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace salient {

ExcludingSampler::ExcludingSampler(CsrGraph graph, SamplingRule rule) : HopStages(graph, std::move(rule)) {
  require(graph_.slots == nullptr, "entries are excluded of plain graphs");
}

void ExcludingSampler::sample(std::span<const NodeId> seeds, BatchKey key, const Exclusions& excluded, Mfg& mfg) {
  map_.clear(std::move(mfg.nodes));
  number_seeds(map_, graph_, seeds);
  const std::size_t num_hops = rule_.fanouts.size();
  mfg.hops.resize(num_hops);
  for (std::size_t h = 0; h < num_hops; ++h) {
    MfgHop& hop = mfg.hops[num_hops - 1 - h];
    hop.num_dst = static_cast<LocalId>(map_.size());
    sample_hop_without(static_cast<std::uint32_t>(h), key, excluded, hop);
  }
  mfg.nodes = map_.take_ids();
}

void ExcludingSampler::sample_hop_without(std::uint32_t hop_number, BatchKey key, const Exclusions& excluded,
                                          MfgHop& hop) {
  const int fanout = rule_.fanouts[hop_number];
  const bool may_repeat = keeps_fanout_of_any_row(fanout, rule_.draw);
  const auto kept_of = [&](std::uint32_t degree) { return num_kept(degree, fanout); };
  require_countable(graph_, map_.ids(), fanout, kept_of);  // of whole rows
  sample_hop(
      map_, map_.size(), hop, [&](std::size_t first) { return read_rows(first, fanout, excluded, hop); },
      [&](std::size_t i, const Row& row, std::uint32_t count, const NodeId** picked) {
        const auto dst_of = [&](std::size_t at) { return map_.ids()[std::min(at, map_.size() - 1)]; };
        const auto lane_of = [&] { return draw_lane(i, key, hop_number, count, dst_of); };
        const Drawing how{key, hop_number, may_repeat};
        const std::span<const std::uint32_t> places = excluded_of_[static_cast<std::size_t>(&row - rows_.data())];
        if (places.empty()) return pick_row(row, count, how, lane_of, picked);
        pick_rest(row, places, count, how, lane_of, picked);
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
      const Row& row = rows_[i - first];
      const std::span<const std::uint32_t> places = excluded_of_[i - first];
      num_edges +=
          static_cast<LocalId>(num_drawable(places.empty() ? weights_of(row) : weights_without(row, places), limit));
      hop.indptr[i + 1] = num_edges;
    }
  }
  hop.indices.resize(std::max(hop.indices.size(), static_cast<std::size_t>(hop.indptr[end])));
  return rows_;
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

/// Of the whole row, 0 where an entry is excluded.
std::span<const float> ExcludingSampler::weights_without(const Row& row, std::span<const std::uint32_t> places) {
  const std::span<const float> weights = graph_.weights_of(row.dst);
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
