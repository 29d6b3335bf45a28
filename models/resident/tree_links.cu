// models/resident/tree_links.cu - see tree_links.h.
//
// Work split  a thread per seed, and one per link of the batch of all ranks.
// Access      ends of links in the order of the epoch, random reads of 8 bytes; of strict negatives a binary search.
// Limit       latency.
// Sync        none.
#include <algorithm>

#include "core/error.h"
#include "models/kernels/launch.cuh"
#include "models/resident/seed_batch.cuh"
#include "models/resident/tree_links.h"
#include "sampler/negative_draws.h"
#include "sampler/search.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

__device__ NodePair link_at(const TreeLinks& links, NodeId number) {
  return {links.ends[2 * std::size_t{number}], links.ends[2 * std::size_t{number} + 1]};
}

__device__ bool is_entry(const DeviceCsr& graph, const NodePair& pair) {
  const NodeId* const row = graph.row(pair.destination);
  const std::uint32_t degree = graph.degree(pair.destination);
  const std::uint32_t at = first_not_below(degree, [&](std::uint32_t e) { return row[e] < pair.source; });
  return at < degree && row[at] == pair.source;
}

/// What replaces an end in negative j, as LinkNegatives::of() draws it.
__device__ NodeId replacing_end(const DeviceCsr& graph, const TreeLinks& links, const StepHeader& header, NodeId number,
                                std::uint32_t j) {
  Draws draws({header.seed, header.epoch, header.batch}, kNegativeDraws, number);
  NodePair pair = link_at(links, number);
  NodeId& end = replaces_source(links.corrupt, j) ? pair.source : pair.destination;
  const auto redraw = [&](std::uint32_t draw) { end = draws.below(draw, static_cast<std::uint32_t>(graph.num_nodes)); };
  const auto is_refused = [&] { return links.is_strict && (pair.source == pair.destination || is_entry(graph, pair)); };
  draw_negative(j, links.negatives, redraw, is_refused);
  return end;
}

__global__ void __launch_bounds__(kThreadsPerBlock)
    start_links_kernel(DeviceCsr graph, TreeLinks links, SeedBatch given, const SeedBatch* __restrict__ announced,
                       TreeStart tree, EntryKey* __restrict__ keys) {
  const SeedBatch batch = announced != nullptr ? *announced : given;
  const std::uint32_t of_link = 2 + links.negatives, num_seeds = batch.header.num_seeds * of_link;
  const std::uint32_t first = blockIdx.x * kThreadsPerBlock + threadIdx.x, stride = gridDim.x * kThreadsPerBlock;
  begin_tree(batch, num_seeds, tree, first);
  for (std::uint32_t i = first; i < num_seeds; i += stride) {
    const NodeId number = batch.order[batch.header.first_seed + i / of_link];
    const std::uint32_t column = i % of_link;
    const NodePair link = link_at(links, number);
    tree.nodes[i] = column == 0   ? link.source
                    : column == 1 ? link.destination
                                  : replacing_end(graph, links, batch.header, number, column - 2);
  }
  if (keys == nullptr) return;
  for (std::uint32_t i = first; i < links.max_batch; i += stride) {
    const bool is_link = i < batch.header.links_in_batch;
    const NodePair link = is_link ? link_at(links, batch.order[batch.header.first_in_batch + i]) : NodePair{};
    keys[2 * i] = is_link ? entry_key(link.destination, link.source) : kNoEntry;
    keys[2 * i + 1] = is_link ? entry_key(link.source, link.destination) : kNoEntry;
  }
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

LinkStart::LinkStart(const DeviceCsr& graph, const TreeLinks& links) : graph_(graph), links_(links) {
  require(links.max_batch >= 1 && links.max_batch < std::int64_t{1} << 29, "a batch has fewer than 2^29 links");
  if (links.exclude == ExcludedEntries::kNone) return;
  const auto count = static_cast<std::uint32_t>(2 * links.max_batch);
  memory_ = make_device_array<std::byte>(ExclusionMemory::bytes(count));
  excluded_ = ExclusionMemory::place(memory_.get(), count);
}

void LinkStart::enqueue(const SeedBatch& given, const SeedBatch* announced, const TreeStart& tree,
                        cudaStream_t stream) const {
  const unsigned blocks = std::max(1U, blocks_for(links_.max_batch));
  start_links_kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(graph_, links_, given, announced, tree, excluded_.keys);
  cuda_check(cudaGetLastError());
  if (excluded_.keys != nullptr) find_exclusions(graph_, excluded_, stream);
}

void LinkStart::start(const SeedBatch& batch, const TreeStart& tree, cudaStream_t stream) const {
  enqueue(batch, nullptr, tree, stream);
}

void LinkStart::start(const SeedBatch* announced, const TreeStart& tree, cudaStream_t stream) const {
  enqueue({}, announced, tree, stream);
}

DeviceExclusions LinkStart::excluded() const {
  return excluded_.keys == nullptr ? DeviceExclusions{} : excluded_.view();
}

}  // namespace salient
