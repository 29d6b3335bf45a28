// sampler/device_mfg_types.cpp - see device_mfg_types.h.
#include "sampler/device_mfg_types.h"

#include <algorithm>
#include <limits>

#include "core/error.h"

namespace salient {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<LocalId>::max();

/// Blocks until the copy is over, as `values` may be gone afterwards.
template <class T>
T* upload(DeviceBuffer<T>& to, const std::vector<T>& values, cudaStream_t stream) {
  T* const data = to.reserve(values.size());
  if (values.empty()) return data;
  cuda_check(cudaMemcpyAsync(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream));
  cuda_check(cudaStreamSynchronize(stream));
  return data;
}

WholeRows whole_rows_of(const SamplingRule& rule, std::size_t num_relations, std::size_t hop) {
  std::size_t num_whole = 0;
  for (std::size_t r = 0; r < num_relations; ++r) num_whole += rule.fanout_of(r, hop) == kAllNeighbors;
  return num_whole == 0 ? WholeRows::kNone : num_whole == num_relations ? WholeRows::kAll : WholeRows::kSome;
}

void require_countable_rows(std::uint64_t num_rows) {
  if (num_rows >= kMost) fail(ErrorKind::kUsage, "a batch with 2^31 edges or more in one hop", Topic::kBatch);
}

}  // namespace

DeviceMfgTypes::DeviceMfgTypes(const SlotTable& slots, const SamplingRule& rule, cudaStream_t stream)
    : slots_(&slots),
      num_hops_(rule.fanouts.size()),
      stream_(stream),
      types_(stream),
      relations_(stream),
      fanouts_(stream),
      row_begin_(stream),
      row_dst_(stream),
      rows_(stream),
      scratch_(stream),
      nodes_by_type_(stream),
      levels_(stream),
      numbers_(stream) {
  require(slots.num_rows() <= nodes_and_rows::kMostRows, "the rows of a graph have 33 bits");
  std::vector<int> fanouts;
  for (std::size_t h = 0; h < num_hops_; ++h) {
    for (std::size_t r = 0; r < num_relations(); ++r) fanouts.push_back(rule.fanout_of(r, h));
    whole_.push_back(whole_rows_of(rule, num_relations(), h));
    rows_by_relation_.emplace_back(stream);
  }
  upload(fanouts_, fanouts, stream);
  on_device_ = {upload(types_, device_types_of(slots), stream), upload(relations_, slots.relations, stream),
                static_cast<int>(num_types())};
}

void DeviceMfgTypes::start(std::span<const NodeId> seeds) {
  LocalId* const begin = pinned_.reserve(seeds.size() + 1);
  std::uint64_t num_rows = 0;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    begin[i] = static_cast<LocalId>(num_rows);
    num_rows += slots_->num_slots[slots_->type_of(seeds[i])];
    require_countable_rows(num_rows);
  }
  begin[seeds.size()] = static_cast<LocalId>(num_rows);
  num_rows_ = static_cast<LocalId>(num_rows);
  num_listed_ = rows_listed_ = 0;
  hop_rows_.clear();
  cuda_check(cudaMemcpyAsync(row_begin_.reserve(seeds.size() + 1), begin, (seeds.size() + 1) * sizeof(LocalId),
                             cudaMemcpyHostToDevice, stream_));
}

void DeviceMfgTypes::set_fanouts(HopRule& rule) const {
  rule.fanouts = fanouts_.data() + rule.hop * num_relations();
  rule.whole = whole_[rule.hop];
}

const HopSlot* DeviceMfgTypes::list_rows(const NodeId* nodes, LocalId num_dst) {
  const auto num_kept = static_cast<std::size_t>(rows_listed_);
  HopSlot* const rows = rows_.reserve(static_cast<std::size_t>(num_rows_), num_kept);
  LocalId* const row_dst = row_dst_.reserve(static_cast<std::size_t>(num_rows_), num_kept);
  list_slot_rows(on_device_, {nodes, row_begin_.data(), rows, row_dst}, {num_listed_, num_dst},
                 {rows_listed_, num_rows_}, stream_);
  num_listed_ = num_dst;
  rows_listed_ = num_rows_;
  hop_rows_.push_back(num_rows_);
  return rows;
}

LocalId DeviceMfgTypes::add_nodes(LocalId num_dst, std::uint64_t sum) {
  const std::uint64_t num_rows = static_cast<std::uint64_t>(num_rows_) + nodes_and_rows::rows(sum);
  require_countable_rows(num_rows);
  num_rows_ = static_cast<LocalId>(num_rows);
  const LocalId num_new = nodes_and_rows::nodes(sum);
  const auto num_known = static_cast<std::size_t>(num_dst) + 1;
  row_begin_.reserve(num_known + static_cast<std::size_t>(num_new), num_known);
  return num_new;
}

void DeviceMfgTypes::list(const NodeId* nodes, const MfgShape& shape, std::span<const LocalId* const> indptr) {
  const int of_types = static_cast<int>(num_types()), of_relations = static_cast<int>(num_relations());
  const std::size_t num_levels = num_hops_ + 1, num_counts = num_levels * num_types();
  LocalId* const levels = pinned_levels_.reserve(num_levels);
  for (std::size_t h = 0; h < num_hops_; ++h) levels[h] = shape.hops[num_hops_ - 1 - h].num_dst;
  levels[num_hops_] = shape.num_nodes;
  cuda_check(cudaMemcpyAsync(levels_.reserve(num_levels), levels, num_levels * sizeof(LocalId), cudaMemcpyHostToDevice,
                             stream_));
  const std::size_t num_numbers = num_counts + num_hops_ * (num_relations() + 1);
  LocalId* const numbers = numbers_.reserve(num_numbers);
  list_by_type(on_device_, nodes, shape.num_nodes, nodes_by_type_, scratch_, stream_);
  count_below(nodes_by_type_, levels_.data(), static_cast<int>(num_levels), of_types, numbers, stream_);
  LocalId* const read = read_numbers_.reserve(num_numbers);
  for (std::size_t h = 0; h < num_hops_; ++h) {
    list_by_relation({rows_.data(), indptr[h], hop_rows_[h]}, of_relations, rows_by_relation_[h], scratch_, stream_);
    find_begins(rows_by_relation_[h], of_relations, numbers + num_counts + h * (num_relations() + 1), stream_);
  }
  cuda_check(cudaMemcpyAsync(read, numbers, num_numbers * sizeof(LocalId), cudaMemcpyDeviceToHost, stream_));
}

void DeviceMfgTypes::count(MfgShape& shape) const {
  const LocalId* const counts = read_numbers_.data();
  const LocalId* const begins = counts + (num_hops_ + 1) * num_types();
  const auto of_level = [&](std::size_t level) {
    const LocalId* const first = counts + level * num_types();
    return std::vector<LocalId>(first, first + num_types());
  };
  shape.num_nodes_of_type = of_level(num_hops_);
  shape.typed_hops.resize(num_hops_);
  for (std::size_t h = 0; h < num_hops_; ++h) {
    TypedHopShape& typed = shape.typed_hops[num_hops_ - 1 - h];
    const LocalId* const first = begins + h * (num_relations() + 1);
    typed.num_rows = hop_rows_[h];
    typed.relation_begin.assign(first, first + num_relations() + 1);
    typed.num_dst_of_type = of_level(h);
    typed.num_src_of_type = of_level(h + 1);
  }
}

void DeviceMfgTypes::copy(void* to, const LocalId* from, LocalId count) const {
  if (count > 0)
    cuda_check(
        cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(LocalId), cudaMemcpyDeviceToHost, stream_));
}

void DeviceMfgTypes::copy_to(const MfgShape& shape, const MfgMemory& memory) const {
  for (std::size_t h = 0; h < num_hops_; ++h) {
    const std::size_t at = num_hops_ - 1 - h;
    const TypedHopMemory& to = memory.typed_hops[at];
    copy(to.row_begin, row_begin_.data(), shape.hops[at].num_dst + 1);
    copy(to.row_dst, row_dst_.data(), shape.typed_hops[at].num_rows);
    copy(to.relation_rows, rows_by_relation_[h].items.data(), shape.typed_hops[at].relation_begin.back());
  }
  LocalId first = 0;
  for (std::size_t t = 0; t < num_types(); ++t) {
    copy(memory.nodes_of_type[t], nodes_by_type_.items.data() + first, shape.num_nodes_of_type[t]);
    first += shape.num_nodes_of_type[t];
  }
}

}  // namespace salient
