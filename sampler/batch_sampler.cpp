// sampler/batch_sampler.cpp - see batch_sampler.h.
#include "sampler/batch_sampler.h"

#include <algorithm>

#include "core/error.h"

namespace salient {
namespace {

void copy(const Mfg& mfg, const MfgMemory& memory, std::span<const std::int64_t> times = {}) {
  require(memory.times == nullptr || times.size() == mfg.nodes.size(), "nodes are seen at times by a rule of times");
  if (memory.times != nullptr) std::ranges::copy(times, memory.times);
  std::ranges::copy(mfg.nodes, memory.nodes);
  for (std::size_t h = 0; h < mfg.hops.size(); ++h) {
    std::ranges::copy(mfg.hops[h].indptr, memory.hops[h].indptr);
    std::ranges::copy(mfg.hops[h].indices, memory.hops[h].indices);
    if (memory.hops[h].places == nullptr) continue;
    require(mfg.hops[h].places.size() == mfg.hops[h].indices.size(), "places of entries are recorded");
    std::ranges::copy(mfg.hops[h].places, memory.hops[h].places);
  }
}

/// And degrees, or the parts of a typed graph.
void copy_parts(const CsrGraph& graph, const Mfg& mfg, const MfgShape& shape, const MfgTypes& types,
                const MfgMemory& memory) {
  copy(mfg, memory);
  require(memory.degrees == nullptr || graph.slots == nullptr, "degrees are of the nodes of a plain graph");
  if (memory.degrees != nullptr) read_degrees(graph, mfg.nodes, memory.degrees);
  if (graph.slots != nullptr) types.copy_to(mfg, shape, memory.typed_hops, memory.nodes_of_type);
}

}  // namespace

void BatchSampler::record_places() { fail(ErrorKind::kInternal, "this sampler does not know the places of entries"); }

void BatchSampler::leave_out(const std::vector<EntryKey>*) {
  fail(ErrorKind::kInternal, "this sampler leaves no entries out that it is told of");
}

const MfgShape& HostBatchSampler::sample(std::span<const NodeId> seeds, BatchKey key) {
  sampler_.sample(seeds, key, mfg_);
  set_shape(mfg_, shape_);
  if (graph_.slots != nullptr) types_.count(mfg_, *graph_.slots, shape_);
  return shape_;
}

void HostBatchSampler::copy_to(const MfgMemory& memory) { copy_parts(graph_, mfg_, shape_, types_, memory); }

const MfgShape& ExcludingBatchSampler::sample(std::span<const NodeId> seeds, BatchKey key) {
  sampler_.sample(seeds, key, *excluded_, mfg_);
  set_shape(mfg_, shape_);
  if (graph_.slots != nullptr) types_.count(mfg_, *graph_.slots, shape_);
  return shape_;
}

void ExcludingBatchSampler::copy_to(const MfgMemory& memory) { copy_parts(graph_, mfg_, shape_, types_, memory); }

TemporalBatchSampler::TemporalBatchSampler(CsrGraph graph, SamplingRule rule, TimeRule times,
                                           std::span<const std::int64_t> node_times)
    : node_times_(node_times), sampler_(graph, std::move(rule), times) {
  require(node_times_.size() == graph.num_nodes(), "every node has a time");
}

TemporalBatchSampler::TemporalBatchSampler(CsrGraph graph, SamplingRule rule, TimeRule times,
                                           const std::vector<std::int64_t>& seed_times)
    : sampler_(graph, std::move(rule), times), given_(&seed_times) {}

const MfgShape& TemporalBatchSampler::sample(std::span<const NodeId> seeds, BatchKey key) {
  seed_times_.clear();
  if (given_ == nullptr)
    for (const NodeId seed : seeds) seed_times_.push_back(node_times_[seed]);
  sampler_.sample(seeds, given_ == nullptr ? seed_times_ : *given_, key, sample_);
  set_shape(sample_.mfg, shape_);
  return shape_;
}

void TemporalBatchSampler::copy_to(const MfgMemory& memory) {
  require(memory.degrees == nullptr, "degrees of the whole graph count edges that no seed sees");
  copy(sample_.mfg, memory, sample_.times);
}

}  // namespace salient
