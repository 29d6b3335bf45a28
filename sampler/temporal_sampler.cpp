// sampler/temporal_sampler.cpp - see temporal_sampler.h.
//
// What a seed's time admits is a range of the row, as rows ascend by time, so that stage "rows" narrows them and all
// behind it is as in neighbor_sampler.cpp. "Number" numbers pairs of node and time, by keys of 64 bits.
#include "sampler/temporal_sampler.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "sampler/time_checks.h"

namespace salient {

TemporalSampler::TemporalSampler(CsrGraph graph, SamplingRule rule, TimeRule times)
    : HopStages(graph, std::move(rule)), time_rule_(times) {
  require(graph_.slots == nullptr, "a graph with times is a plain one");
  require_times(time_rule_, rule_, graph_.entries.times.size() == graph_.indices.size());
}

void TemporalSampler::sample(std::span<const NodeId> seeds, std::span<const std::int64_t> seed_times, BatchKey key,
                             TemporalMfg& sample) {
  map_.clear();
  times_.clear();
  number_seeds(seeds, seed_times);
  const std::size_t num_hops = rule_.fanouts.size();
  sample.mfg.hops.resize(num_hops);
  for (std::size_t h = 0; h < num_hops; ++h) {
    MfgHop& hop = sample.mfg.hops[num_hops - 1 - h];
    hop.num_dst = static_cast<LocalId>(map_.size());
    sample_timed_hop(static_cast<std::uint32_t>(h), key, hop);
  }
  sample.mfg.nodes.clear();
  sample.times.clear();
  for (const TimedNode node : map_.ids()) {
    sample.mfg.nodes.push_back(static_cast<NodeId>(node));
    sample.times.push_back(time_of(node));
  }
}

void TemporalSampler::number_seeds(std::span<const NodeId> seeds, std::span<const std::int64_t> seed_times) {
  require(seeds.size() == seed_times.size(), "every seed has a time");
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    require(seeds[i] < graph_.num_nodes(), "a seed is a node of the graph");
    const auto time = static_cast<std::uint64_t>(seed_times[i]);
    LocalId number;
    times_.number_all({&time, 1}, &number);
    const TimedNode node = timed(static_cast<std::uint32_t>(number), seeds[i]);
    map_.number_all({&node, 1}, &number);
  }
  require(map_.size() == seeds.size(), "seeds are distinct");
}

void TemporalSampler::sample_timed_hop(std::uint32_t hop_number, BatchKey key, MfgHop& hop) {
  const int fanout = rule_.fanouts[hop_number];
  const bool may_repeat = keeps_fanout_of_any_row(fanout, rule_.draw);
  const auto kept_of = [&](std::uint32_t degree) { return num_kept(degree, fanout); };
  require_countable(graph_, map_.ids(), fanout, kept_of);  // of whole rows
  sample_hop(
      map_, map_.size(), hop, [&](std::size_t first) { return read_rows(first, fanout, hop); },
      [&](std::size_t i, const Row& row, std::uint32_t count, const NodeId** picked) {
        const auto in_block = static_cast<std::size_t>(&row - rows_.data());
        const auto dst_of = [&](std::size_t at) { return rows_[std::min(at, rows_.size() - 1)].dst; };
        const auto lane_of = [&] { return draw_lane(in_block, key, hop_number, count, dst_of); };
        pick_row(row, count, {key, hop_number, may_repeat, first_places_[in_block]}, lane_of, picked);
        if (time_numbers_.size() < picked_.size()) time_numbers_.resize(picked_.size());
        std::fill_n(time_numbers_.begin() + (picked - picked_.data()), count, number_of_time(map_.ids()[i]));
      },
      [&](const NodeId* entry, std::size_t e) { return timed(time_numbers_[e], *entry); });
}

/// Stage "rows" for a block of them: bounds first, and when their times are on the way, what is admitted.
std::span<const TemporalSampler::Row> TemporalSampler::read_rows(std::size_t first, int fanout, MfgHop& hop) {
  const std::span<const TimedNode> dst = map_.ids().first(static_cast<std::size_t>(hop.num_dst));
  const std::size_t end = std::min(first + kBlockRows, dst.size());
  rows_.clear();
  first_places_.clear();
  lanes_end_ = 0;
  for (std::size_t i = first; i < end; ++i) {
    if (i + kRowsAhead < dst.size()) __builtin_prefetch(&graph_.indptr[static_cast<NodeId>(dst[i + kRowsAhead])]);
    const auto node = static_cast<NodeId>(dst[i]);
    const std::uint32_t degree = graph_.degree(node);
    const std::int64_t* const times = graph_.entries.times.data() + graph_.indptr[node];
    __builtin_prefetch(times + degree / 2);  // where the search begins
    rows_.push_back({graph_.row(node).data(), degree, node});
  }
  LocalId num_edges = hop.indptr[first];
  for (std::size_t i = first; i < end; ++i) {
    Row& row = rows_[i - first];
    narrow(row, time_of(dst[i]), fanout);
    if (rule_.draw == Draw::kLabor) prefetch_start(row.begin, row.degree);
    if (rule_.draw == Draw::kWeighted) prefetch_start(weights_of(row).data(), row.degree);
    num_edges += static_cast<LocalId>(num_kept(row.degree, fanout));
    hop.indptr[i + 1] = num_edges;
  }
  if (rule_.draw == Draw::kWeighted) count_drawable(first, hop, [fanout](std::size_t) { return fanout; });
  hop.indices.resize(std::max(hop.indices.size(), static_cast<std::size_t>(hop.indptr[end])));
  return rows_;
}

/// To what the time admits, and by kLast to what is kept.
void TemporalSampler::narrow(Row& row, std::int64_t time, int fanout) {
  const auto times =
      graph_.entries.times.subspan(static_cast<std::size_t>(row.begin - graph_.indices.data()), row.degree);
  auto [begin, end] = admitted(times, time, time_rule_);
  const auto most = static_cast<std::uint32_t>(fanout);  // kAllNeighbors: no limit
  if (time_rule_.strategy == TimeStrategy::kLast && end - begin > most) begin = end - most;
  row.begin += begin;
  row.degree = end - begin;
  first_places_.push_back(begin);
}

}  // namespace salient
