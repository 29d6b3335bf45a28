// models/resident/tree.cu - see tree.h; tree_hops.cuh has the kernels.
#include <algorithm>
#include <utility>

#include "core/error.h"
#include "models/resident/tree_hops.cuh"

namespace salient {

constexpr int kMaxShortGrowth = 10;           // entries that one thread draws for a level
constexpr unsigned kMaxLastHopBlocks = 2048;  // as many as fill any GPU, so that a group of lanes has several nodes

std::vector<std::int64_t> tree_capacities(const std::vector<int>& fanouts, std::int64_t max_seeds) {
  std::vector<std::int64_t> capacities{max_seeds};
  for (std::size_t h = 0; h + 1 < fanouts.size(); ++h) capacities.push_back(capacities.back() * (1 + fanouts[h]));
  return capacities;
}

SampledTree::SampledTree(DeviceCsr graph, SamplingRule rule, std::int64_t max_seeds, Places places,
                         const std::optional<TreeLinks>& links)
    : graph_(graph),
      rule_(std::move(rule)),
      capacities_(tree_capacities(rule_.fanouts, max_seeds)),
      header_(make_device_array<StepHeader>(1)),
      nodes_(make_device_array<NodeId>(static_cast<std::size_t>(capacities_.back()))),
      sizes_(make_device_array<LocalId>(capacities_.size())),
      num_children_(make_device_array<LocalId>(static_cast<std::size_t>(capacities_.back()) + 1)),
      entries_(make_device_array<NodeId>(static_cast<std::size_t>(capacities_.back() * rule_.fanouts.back()))),
      chunk_sums_(make_device_array<LocalId>(static_cast<std::size_t>(capacities_.back() / kChunk) + 1)),
      num_edges_(make_device_array<unsigned long long>(2 * rule_.fanouts.size())) {
  require(std::ranges::all_of(rule_.fanouts, [](int fanout) { return fanout >= 1 && fanout <= kMaxResidentFanout; }),
          "a tree's fanouts are in [1, 32]");
  require(has_tree_draw(rule_.draw), "a tree's nodes draw by themselves");
  require(capacities_.back() < std::int64_t{1} << 31, "a tree has fewer than 2^31 nodes");
  for (std::size_t h = 0; h + 1 < rule_.fanouts.size(); ++h) {
    first_child_.push_back(make_device_array<LocalId>(static_cast<std::size_t>(capacities_[h]) + 1));
    parent_.push_back(make_device_array<LocalId>(static_cast<std::size_t>(capacities_[h + 1] - capacities_[h])));
  }
  if (places == Places::kKept) {
    for (std::size_t h = 0; h < parent_.size(); ++h)
      places_.push_back(make_device_array<EdgeOffset>(static_cast<std::size_t>(capacities_[h + 1] - capacities_[h])));
    places_.push_back(
        make_device_array<EdgeOffset>(static_cast<std::size_t>(capacities_.back() * rule_.fanouts.back())));
  }
  if (links) links_.emplace(graph_, *links);
  clear_counts();
}

TreeGrowth SampledTree::growth(std::size_t level) const {
  return {size_of(level),       size_of(level + 1), first_child_[level].get(),
          parent_[level].get(), capacity(level),    capacity(level + 1)};
}

LastHop SampledTree::last_hop() const {
  const std::size_t level = capacities_.size() - 1;
  return {nodes(), size_of(level), entries_.get(), num_children_.get(), capacity(level), rule_.fanouts.back()};
}

PlacedEntries SampledTree::placed_entries(std::size_t level) const {
  require(has_places(), "a tree keeps places where it was asked to");
  const bool is_last = level + 1 == capacities_.size();
  return {size_of(level),      capacity(level),      is_last ? nullptr : first_child_[level].get(),
          num_children_.get(), rule_.fanouts[level], places_[level].get()};
}

TreeStart SampledTree::start() const {
  return {header_.get(), nodes_.get(), sizes_.get(), num_edges_.get(),
          static_cast<std::uint32_t>(rule_.fanouts.size())};
}

void SampledTree::begin(const SeedBatch& batch, cudaStream_t stream) {
  const std::int64_t of_item = links_ ? links_->links().seeds_of_link() : 1;
  require(batch.header.num_seeds * of_item <= capacity(0), "a batch has no more seeds than was said");
  require(!links_ || batch.header.links_in_batch <= links_->links().max_batch, "nor has that of all ranks");
  links_ ? links_->start(batch, start(), stream) : start_tree(batch, start(), stream);
}

void SampledTree::begin_announced(const SeedBatch* batch, cudaStream_t stream) {
  links_ ? links_->start(batch, start(), stream) : start_tree(batch, start(), stream);
}

namespace {

/// Calls use<true>() where places are kept, else use<false>().
template <class Use>
void with_places(bool keeps_places, const Use& use) {
  keeps_places ? use.template operator()<true>() : use.template operator()<false>();
}

}  // namespace

void SampledTree::sample_levels(cudaStream_t stream) {
  for (std::size_t h = 0; h + 1 < rule_.fanouts.size(); ++h) grow_level(h, stream);
}

void SampledTree::grow_level(std::size_t h, cudaStream_t stream) {
  const Hop hop{
      graph_,    header_.get(), size_of(h), static_cast<std::uint32_t>(h), static_cast<std::uint32_t>(rule_.fanouts[h]),
      rule_.draw};
  const std::int64_t capacity = capacities_[h];
  const RowGroup group = RowGroup::make(rule_.fanouts[h]);
  const Growth growth{num_children_.get(),   chunk_sums_.get(),    capacity,
                      first_child_[h].get(), sizes_.get() + h + 1, has_places() ? places_[h].get() : nullptr};
  with_hop(links_, hop, [&](const auto& any) {
    count_kernel<<<blocks_for(capacity + 1), kThreadsPerBlock, 0, stream>>>(
        any, nodes_.get(), capacity, num_children_.get(), chunk_sums_.get(), num_edges_.get() + h);
    cuda_check(cudaGetLastError());
    with_places(has_places(), [&]<bool kKeepsPlaces>() {
      if (rule_.fanouts[h] <= kMaxShortGrowth)
        short_grow_kernel<kMaxShortGrowth, kKeepsPlaces>
            <<<blocks_for(capacity + 1), kThreadsPerBlock, 0, stream>>>(any, growth, parent_[h].get(), nodes_.get());
      else
        grow_kernel<kKeepsPlaces><<<blocks_for((capacity + 1) << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
            any, group, growth, parent_[h].get(), nodes_.get());
    });
    cuda_check(cudaGetLastError());
  });
}

namespace {

template <bool kKeepsPlaces, class AnyHop>
auto short_last_hop_of(const AnyHop&, int fanout) {
  return fanout <= 5 ? short_last_hop_kernel<5, kKeepsPlaces, AnyHop> : short_last_hop_kernel<8, kKeepsPlaces, AnyHop>;
}

}  // namespace

void SampledTree::sample_last_hop(cudaStream_t stream) {
  const std::size_t h = rule_.fanouts.size() - 1;
  const Hop hop{
      graph_,    header_.get(), size_of(h), static_cast<std::uint32_t>(h), static_cast<std::uint32_t>(rule_.fanouts[h]),
      rule_.draw};
  const RowGroup group = RowGroup::make(rule_.fanouts[h]);
  const std::int64_t capacity = capacities_[h];
  unsigned long long* const num_edges = num_edges_.get() + h;
  EdgeOffset* const places = has_places() ? places_[h].get() : nullptr;
  with_hop(links_, hop, [&](const auto& any) {
    with_places(has_places(), [&]<bool kKeepsPlaces>() {
      if (rule_.fanouts[h] <= 8) {
        const auto kernel = short_last_hop_of<kKeepsPlaces>(any, rule_.fanouts[h]);
        kernel<<<blocks_for(capacity), kThreadsPerBlock, 0, stream>>>(any, nodes_.get(), capacity, entries_.get(),
                                                                      num_children_.get(), num_edges, places);
      } else {
        const unsigned blocks = std::min(kMaxLastHopBlocks, blocks_for(capacity << group.log_lanes));
        last_hop_kernel<kKeepsPlaces><<<blocks, kThreadsPerBlock, 0, stream>>>(
            any, group, nodes_.get(), capacity, entries_.get(), num_children_.get(), num_edges, places);
      }
      cuda_check(cudaGetLastError());
    });
  });
}

void SampledTree::clear_counts() {
  cuda_check(cudaMemset(num_edges_.get(), 0, 2 * rule_.fanouts.size() * sizeof(unsigned long long)));
  cuda_check(cudaDeviceSynchronize());
}

std::vector<std::int64_t> SampledTree::num_edges(Counted which, cudaStream_t stream) const {
  const std::size_t hops = rule_.fanouts.size();
  std::vector<unsigned long long> counts(2 * hops);
  cuda_check(cudaMemcpyAsync(counts.data(), num_edges_.get(), counts.size() * sizeof counts[0], cudaMemcpyDeviceToHost,
                             stream));
  cuda_check(cudaStreamSynchronize(stream));
  std::vector<std::int64_t> result(counts.begin() + static_cast<std::ptrdiff_t>(hops), counts.end());
  for (std::size_t h = 0; h < hops && which == Counted::kAllBatches; ++h)
    result[h] += static_cast<std::int64_t>(counts[h]);
  return result;
}

}  // namespace salient
