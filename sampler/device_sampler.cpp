// sampler/device_sampler.cpp - see device_sampler.h.
#include "sampler/device_sampler.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "core/cuda/cuda.h"
#include "core/cuda/device_buffer.h"
#include "core/cuda/pinned_buffer.h"
#include "core/error.h"
#include "sampler/device_mfg_types.h"
#include "sampler/exclusion_memory.h"
#include "sampler/id_map.h"
#include "sampler/time_checks.h"

namespace salient {
namespace {

void require_rule(const DeviceValuedCsr& graph, const SamplingRule& rule, const SlotTable* slots,
                  const std::optional<SeedTimes>& times) {
  require(are_fanouts(rule.fanouts), "a fanout is in [1, 2^16), or -1 for all");
  require(are_relation_fanouts(rule), "a relation's fanouts are one for each hop, in [0, 2^16), or -1 for all");
  require(
      rule.relation_fanouts.empty() || (slots != nullptr && rule.relation_fanouts.size() == slots->relations.size()),
      "every relation of a typed graph has fanouts, or none has");
  if (rule.draw == Draw::kWeighted && graph.weights == nullptr)
    fail(ErrorKind::kUsage, "neighbours are to be drawn by weight, and the edges of this graph have no weights");
  if (!times) return;
  require(slots == nullptr, "a graph with times is a plain one");
  require(times->of_nodes.size() == graph.num_nodes, "every node has a time");
  require_times(times->rule, rule, graph.times != nullptr);
}

/// Numbers the times at which a batch's nodes are seen.
struct TimesOfBatch {
  TimesOfBatch(const SeedTimes& of_seeds, cudaStream_t stream)
      : seen(of_seeds), bounds(stream), of_node(stream), of_entry(stream), admitted(stream) {}

  void start(std::span<const NodeId> seeds, cudaStream_t stream) {
    distinct.clear();
    std::uint32_t* const numbers = pinned_numbers.reserve(seeds.size());
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      const auto time = static_cast<std::uint64_t>(seen.of_nodes[seeds[i]]);
      LocalId number = 0;
      distinct.number_all({&time, 1}, &number);
      numbers[i] = static_cast<std::uint32_t>(number);
    }
    TimeBounds* const of_times = pinned_bounds.reserve(std::max<std::size_t>(1, distinct.size()));
    for (std::size_t t = 0; t < distinct.size(); ++t)
      of_times[t] = bounds_of(static_cast<std::int64_t>(distinct.ids()[t]), seen.rule);
    bounds.reserve(std::max<std::size_t>(1, distinct.size()));
    of_node.reserve(seeds.size());
    if (seeds.empty()) return;
    cuda_check(
        cudaMemcpyAsync(bounds.data(), of_times, distinct.size() * sizeof(TimeBounds), cudaMemcpyHostToDevice, stream));
    cuda_check(
        cudaMemcpyAsync(of_node.data(), numbers, seeds.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice, stream));
  }

  bool keeps_last() const { return seen.rule.strategy == TimeStrategy::kLast; }

  /// What a hop of so many rows has of them, before its entries are known.
  DeviceTimes of_rows(std::size_t num_rows) {
    return {bounds.data(), of_node.data(), nullptr, admitted.reserve(num_rows)};
  }

  const SeedTimes seen;
  KeyMap<std::uint64_t> distinct{};
  PinnedBuffer<std::uint32_t> pinned_numbers{};
  PinnedBuffer<TimeBounds> pinned_bounds{};
  DeviceBuffer<TimeBounds> bounds;       // by number
  DeviceBuffer<std::uint32_t> of_node;   // of the batch so far
  DeviceBuffer<std::uint32_t> of_entry;  // of one hop, as is the next
  DeviceBuffer<TimeRange> admitted;
};

/// What a batch does not see, from the host's keys.
struct LeftOut {
  explicit LeftOut(cudaStream_t on) : memory(on) {}

  void find(const DeviceCsr& graph, cudaStream_t stream) {
    of_batch = {};
    if (keys == nullptr || keys->empty()) return;
    require(keys->size() < std::size_t{1} << 30, "what a batch does not see are fewer than 2^30 entries");
    const auto count = static_cast<std::uint32_t>(keys->size());
    const auto parts = ExclusionMemory::place(memory.reserve(ExclusionMemory::bytes(count)), count);
    std::ranges::copy(*keys, pinned.reserve(keys->size()));
    cuda_check(cudaMemcpyAsync(parts.keys, pinned.data(), count * sizeof(EntryKey), cudaMemcpyHostToDevice, stream));
    find_exclusions(graph, parts, stream);
    of_batch = parts.view();
  }

  const std::vector<EntryKey>* keys = nullptr;
  DeviceExclusions of_batch{};
  PinnedBuffer<EntryKey> pinned{};
  DeviceBuffer<std::byte> memory;
};

struct HopArrays {
  explicit HopArrays(cudaStream_t stream) : indptr(stream), indices(stream) {}
  DeviceBuffer<LocalId> indptr, indices;
};

}  // namespace

struct DeviceSampler::Impl {
  Impl(const DeviceValuedCsr& csr, SamplingRule of_hops, const SlotTable* slots_of_nodes,
       const std::optional<SeedTimes>& seen_at)
      : graph(csr), rule(std::move(of_hops)) {
    require_rule(graph, rule, slots_of_nodes, seen_at);
    if (seen_at) times.emplace(*seen_at, stream.get());
    cuda_check(cudaGetDevice(&device));
    for (std::size_t h = 0; h < rule.fanouts.size(); ++h) arrays.emplace_back(stream.get());
    shape.hops.resize(rule.fanouts.size());
    if (slots_of_nodes != nullptr) types.emplace(*slots_of_nodes, rule, stream.get());
  }

  HopRule rule_of(std::size_t hop, BatchKey key) const {
    HopRule of_hop{rule.fanouts[hop], rule.draw, key, static_cast<std::uint32_t>(hop)};
    of_hop.whole = of_hop.fanout == kAllNeighbors ? WholeRows::kAll : WholeRows::kNone;
    of_hop.keeps_last = times && times->keeps_last();
    if (types) types->set_fanouts(of_hop);
    return of_hop;
  }

  void use_device() const { cuda_check(cudaSetDevice(device)); }  // a worker's thread may have another

  /// Waits for the device, asleep.
  void wait() {
    passed.record(stream.get());
    passed.wait();
  }

  template <class T>
  T read(const T* value) {
    cuda_check(cudaMemcpyAsync(read_back.get(), value, sizeof(T), cudaMemcpyDeviceToHost, stream.get()));
    wait();
    T result;
    std::memcpy(&result, read_back.get(), sizeof(T));
    return result;
  }

  void take_seeds(std::span<const NodeId> seeds) {
    distinct.clear();
    for (const NodeId seed : seeds) {
      require(seed < graph.num_nodes, "a seed is a node of the graph");
      LocalId number = 0;
      distinct.number_all({&seed, 1}, &number);
    }
    require(distinct.size() == seeds.size(), "seeds are distinct");
    std::ranges::copy(seeds, pinned_seeds.reserve(seeds.size()));
    nodes.reserve(seeds.size());
    if (types) types->start(seeds);
    if (times) times->start(seeds, stream.get());
    if (seeds.empty()) return;
    cuda_check(
        cudaMemcpyAsync(nodes.data(), pinned_seeds.data(), seeds.size_bytes(), cudaMemcpyHostToDevice, stream.get()));
  }

  /// A table with room for `num_ids`, all free.
  DeviceIdTable make_table(std::size_t num_ids) {
    const std::size_t size = std::bit_ceil(std::max<std::size_t>(2 * num_ids, 64));
    slots.reserve(size);
    cuda_check(cudaMemsetAsync(slots.data(), 0xFF, size * sizeof(DeviceIdTable::Slot), stream.get()));
    return {slots.data(), std::countr_zero(size)};
  }

  /// Ranks what is new. @return  how many nodes that are
  LocalId rank_new(DeviceHop& hop) {
    const auto size = static_cast<std::size_t>(hop.num_edges) + 1;
    if (types) {
      hop.ranks = ranks.reserve(size);
      rank_new_ids(hop, types->slots(), scratch, stream.get());
      return types->add_nodes(hop.num_dst, read(hop.ranks + hop.num_edges));
    }
    hop.rank = rank.reserve(size);
    rank_new_ids(hop, scratch, stream.get());
    return read(hop.rank + hop.num_edges);
  }

  /// @return the number of nodes known after the hop
  LocalId sample_hop(const HopRule& hop_rule, LocalId num_dst, HopArrays& result, MfgShape::Hop& sizes) {
    const auto count = static_cast<std::size_t>(num_dst);
    DeviceHop hop{.dst = nodes.data(), .num_dst = num_dst, .num_rows = num_dst};
    if (types) {
      hop.rows = types->list_rows(nodes.data(), num_dst);
      hop.num_rows = types->num_rows();
    }
    const auto num_rows = static_cast<std::size_t>(hop.num_rows);
    hop.offsets = offsets.reserve(num_rows + 1);
    hop.excluded = left_out.of_batch;
    if (times) hop.times = times->of_rows(num_rows);
    if (times) narrow_rows(graph, hop_rule, hop, stream.get());
    scan_kept(graph, hop_rule, hop, scratch, stream.get());
    const std::int64_t total = read(hop.offsets + hop.num_rows);
    if (total + num_dst > std::numeric_limits<LocalId>::max())
      fail(ErrorKind::kUsage, "a batch with 2^31 edges or more in one hop", Topic::kBatch);
    const auto size = static_cast<std::size_t>(total);
    hop.num_edges = static_cast<LocalId>(total);
    hop.kept = kept.reserve(size);
    hop.slot_of = slot_of.reserve(size);
    if (times) hop.times.of_entry = times->of_entry.reserve(size);
    pick_entries(graph, hop_rule, hop, result.indptr.reserve(num_rows + 1), stream.get());
    hop.table = make_table(count + size);
    claim_slots(hop, stream.get());
    const LocalId num_src = num_dst + rank_new(hop);

    nodes.reserve(static_cast<std::size_t>(num_src), count);  // moves what hop.dst points at
    if (times) hop.times.of_node = times->of_node.reserve(static_cast<std::size_t>(num_src), count);
    LocalId* const indices = result.indices.reserve(size);
    if (types)
      number_entries(hop, nodes.data(), types->row_begin(), indices, stream.get());
    else
      number_entries(hop, nodes.data(), indices, stream.get());
    sizes = {num_dst, num_src, hop.num_edges};
    return num_src;
  }

  /// The typed parts of the shape, and the lists that copy_to() copies.
  void list_types() {
    std::vector<const LocalId*> indptr;
    for (const HopArrays& hop : arrays) indptr.push_back(hop.indptr.data());
    types->list(nodes.data(), shape, indptr);
    wait();
    types->count(shape);
  }

  void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream.get()));
  }
  const DeviceValuedCsr graph;
  const SamplingRule rule;
  int device = 0;
  CudaStream stream;
  CudaEvent passed{CudaEvent::Kind::kBlockingWait};
  PinnedArray<std::int64_t> read_back = make_pinned_array<std::int64_t>(1);
  PinnedBuffer<NodeId> pinned_seeds{};
  IdMap distinct;
  DeviceBuffer<NodeId> nodes{stream.get()};  // of the batch so far
  std::vector<HopArrays> arrays{};           // the seeds' own hop first
  DeviceBuffer<NodeDegree> degrees{stream.get()};
  std::optional<DeviceMfgTypes> types{};  // of a typed graph
  std::optional<TimesOfBatch> times{};
  LeftOut left_out{stream.get()};
  MfgShape shape{};

  // Scratch of one hop; see device_hop.h.
  DeviceBuffer<std::int64_t> offsets{stream.get()};
  DeviceBuffer<NodeId> kept{stream.get()};
  DeviceBuffer<std::uint32_t> slot_of{stream.get()};
  DeviceBuffer<LocalId> rank{stream.get()};
  DeviceBuffer<std::uint64_t> ranks{stream.get()};
  DeviceBuffer<DeviceIdTable::Slot> slots{stream.get()};
  DeviceBuffer<std::byte> scratch{stream.get()};
};

DeviceSampler::DeviceSampler(const DeviceValuedCsr& graph, SamplingRule rule, const SlotTable* slots,
                             const std::optional<SeedTimes>& times)
    : impl_(std::make_unique<Impl>(graph, std::move(rule), slots, times)) {}
DeviceSampler::~DeviceSampler() = default;

const MfgShape& DeviceSampler::sample(std::span<const NodeId> seeds, BatchKey key) {
  Impl& self = *impl_;
  self.use_device();
  self.take_seeds(seeds);
  self.left_out.find(self.graph, self.stream.get());
  auto num_nodes = static_cast<LocalId>(seeds.size());
  const std::size_t num_hops = self.rule.fanouts.size();
  for (std::size_t h = 0; h < num_hops; ++h)
    num_nodes = self.sample_hop(self.rule_of(h, key), num_nodes, self.arrays[h], self.shape.hops[num_hops - 1 - h]);
  self.shape.num_nodes = num_nodes;
  if (self.types) self.list_types();
  return self.shape;
}

void DeviceSampler::leave_out(const std::vector<EntryKey>* entries) {
  require(impl_->graph.ascends && !impl_->times, "entries are found in rows that ascend by neighbour");
  impl_->left_out.keys = entries;
}

void DeviceSampler::copy_to(const MfgMemory& memory) {
  Impl& self = *impl_;
  self.use_device();
  self.copy(memory.nodes, self.nodes.data(), static_cast<std::size_t>(self.shape.num_nodes) * sizeof(NodeId));
  require(memory.degrees == nullptr || (!self.types && !self.times && self.graph.ascends),
          "degrees are of the nodes of a plain graph whose rows ascend by neighbour");
  if (memory.degrees != nullptr) {
    const auto num_nodes = static_cast<std::size_t>(self.shape.num_nodes);
    NodeDegree* const degrees = self.degrees.reserve(num_nodes);
    read_degrees(self.graph, self.nodes.data(), self.shape.num_nodes, degrees, self.stream.get());
    self.copy(memory.degrees, degrees, num_nodes * sizeof(NodeDegree));
  }
  const std::size_t num_hops = self.rule.fanouts.size();
  for (std::size_t h = 0; h < num_hops; ++h) {
    const MfgShape::Hop& sizes = self.shape.hops[num_hops - 1 - h];
    const MfgMemory::Hop& to = memory.hops[num_hops - 1 - h];
    const LocalId num_rows = self.types ? self.shape.typed_hops[num_hops - 1 - h].num_rows : sizes.num_dst;
    self.copy(to.indptr, self.arrays[h].indptr.data(), (static_cast<std::size_t>(num_rows) + 1) * sizeof(LocalId));
    self.copy(to.indices, self.arrays[h].indices.data(), static_cast<std::size_t>(sizes.num_edges) * sizeof(LocalId));
  }
  if (self.types) self.types->copy_to(self.shape, memory);
  self.wait();
}

}  // namespace salient
