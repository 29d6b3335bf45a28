// models/exact/exact_forward.cpp - see exact_forward.h.
//
//   features --- all neighbours, mean --> operand --- * W1, relu --> h1 ... h(L-2), of all nodes, block after block
//   h(L-2) --- mean --> operand --- * W(L-1), relu --> h(L-1) of a block --- * WL around --> p, of all nodes
//                                                                        --- * WL self ----> q, where it has room
//   for the nodes asked for: q, computed again where it was not kept, + mean of p --> logits
//
// Where ExactLayers fit, they take the place of a line's products: the operand is the means alone, and h(L-1) is not
// stored. Of two operands one is gathered while products of the other, of the block before,
// run on some multiprocessors that the gather leaves to them.
#include "models/exact/exact_forward.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/cuda/device_attribute.h"
#include "core/error.h"
#include "models/exact/all_neighbors.h"
#include "models/exact/exact_products.h"
#include "models/resident/urgent_stream.h"

namespace salient {
namespace {

constexpr std::int64_t kSize = 2;  // of f16

/// Whole blocks, as products have a fixed number of rows.
std::int64_t rows_of(const ExactShape& shape, std::size_t num_nodes) {
  const auto count = static_cast<std::int64_t>(num_nodes);
  return (count + shape.block_rows - 1) / shape.block_rows * shape.block_rows;
}

/// Free memory that results leave to others: to LibTorch and libraries, and for a copy of a block's logits without
/// padding, which LibTorch makes on the GPU when it copies them to the host.
std::int64_t left_free(const ExactShape& shape) {
  constexpr std::int64_t kGb = std::int64_t{1} << 30;
  return std::max(2 * kGb, kGb + shape.block_rows * shape.num_classes * std::int64_t{sizeof(float)});
}

/// Results of hidden layers that are kept at a time.
int num_kept(const ExactShape& shape) { return std::min(shape.num_layers - 2, 2); }

/// Multiprocessors that a gather takes while products run on the others: it waits for memory, which so many keep busy
/// (an H200 has 132; a tenth of papers100M took 0.115 s on 72, 0.111 on 78 and 84, 0.116 on 92, 0.124 on 100).
int multiprocessors_of_gather(int all) { return std::max(1, all * 7 / 11); }

/// Whole blocks of what is kept of the last layer's own part, rows from that of node `first` to `end`.
struct OwnRange {
  std::int64_t first, end;
  std::byte* rows;
};

/// What one block's gather leaves to its products, and what it needs for itself.
struct Side {
  Side(std::int64_t bytes, int max_pieces, std::int64_t widest)
      : operand(zeroed_array(bytes, "a block's operand")),
        counts(make_device_array<GatherCounts>(1)),
        pieces(make_device_array<RowPiece>(static_cast<std::size_t>(max_pieces))),
        num_added(zeroed_array(max_pieces * std::int64_t{sizeof(std::int32_t)}, "counters of pieces")),
        piece_sums(make_device_array<float>(static_cast<std::size_t>(max_pieces * widest))) {}
  GatherScratch scratch(std::int32_t* beyond_f16, int max_pieces) const {
    return {counts.get(),     pieces.get(), reinterpret_cast<std::int32_t*>(num_added.get()),
            piece_sums.get(), beyond_f16,   max_pieces};
  }

  DeviceArray<std::byte> operand;
  DeviceArray<GatherCounts> counts;
  DeviceArray<RowPiece> pieces;
  DeviceArray<std::byte> num_added;
  DeviceArray<float> piece_sums;
  CudaEvent gathered{CudaEvent::Kind::kOrder};
  CudaEvent used{CudaEvent::Kind::kOrder};  // by products; in predictions, what came before the block's
};

}  // namespace

std::int64_t exact_forward_bytes(const ExactShape& shape, std::size_t num_nodes) {
  const std::vector<ExactWidth> widths = widths_of(shape);
  const std::int64_t hidden = padded(shape.hidden_dim), classes = widths.back().out;
  const std::int64_t widest = std::max(widths[0].in, hidden);
  const std::int64_t block_row = 2 * std::max(2 * widest * kSize, classes * 4) + (hidden + classes) * kSize + 4;
  const std::int64_t piece = 2 * (std::max(widest, classes) * 4 + 12);
  return rows_of(shape, num_nodes) * (num_kept(shape) * hidden + classes) * kSize + shape.block_rows * block_row +
         shape.max_pieces * piece + (std::int64_t{100} << 20);
}

struct ExactForward::Impl {
  Impl(const ExactShape& s, const StepInputs& d, std::span<std::byte> spent_features)
      : shape(s),
        data(d),
        widths(widths_of(s)),
        sides{Side(side_bytes(), s.max_pieces, widest()), Side(side_bytes(), s.max_pieces, widest())},
        block_own(zeroed_array(own_block_bytes(), "a block's own part")),
        projected(zeroed_array(rows_of(s, d.graph.num_nodes) * classes() * kSize, "the last layer of all nodes")),
        nodes(make_device_array<NodeId>(static_cast<std::size_t>(s.block_rows))),
        beyond_f16(make_device_array<std::int32_t>(1)) {
    require(s.num_layers >= 2 && s.hidden_dim % 8 == 0, "there are hidden layers of a multiple of 8 columns");
    for (int i = 0; i < num_kept(s); ++i)
      kept[static_cast<std::size_t>(i)] =
          zeroed_array(rows_of(s, d.graph.num_nodes) * hidden() * kSize, "a layer's result of all nodes");
    std::vector<FeatureRows> tables;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) tables.push_back(table(i));
    products.emplace(s, tables, ExactPlanMemory{sides[0].operand.get(), block_own.get()});
    if (s.num_layers > 2) keep_own_parts_in(spent_features);  // of two layers the last hidden one reads features
    keeps_in_features = !own_parts.empty();
    keep_own_parts_in_free_memory();
    cuda_check(cudaDeviceSynchronize());  // zeroed_array()
  }

  std::int64_t hidden() const { return widths[0].out; }
  std::int64_t classes() const { return widths.back().out; }
  /// Padded columns of the widest table that is gathered from.
  std::int64_t widest() const { return std::max({widths[0].in, hidden(), classes()}); }
  /// Of a block's operand, or later its logits.
  std::int64_t side_bytes() const {
    return shape.block_rows * std::max(2 * std::max(widths[0].in, hidden()) * kSize, classes() * 4);
  }
  std::int64_t own_block_bytes() const { return shape.block_rows * classes() * kSize; }

  /// As many whole blocks of nodes as the memory has room for, from the first node without such a place on.
  void keep_own_parts_in(std::span<std::byte> memory) {
    const std::int64_t first = own_parts.empty() ? 0 : own_parts.back().end;
    const std::int64_t wanted = (rows_of(shape, data.graph.num_nodes) - first) / shape.block_rows;
    const std::int64_t blocks = std::min(wanted, static_cast<std::int64_t>(memory.size()) / own_block_bytes());
    if (blocks > 0) own_parts.push_back({first, first + blocks * shape.block_rows, memory.data()});
  }
  void keep_own_parts_in_free_memory() {
    std::size_t free_bytes = 0, total_bytes = 0;
    cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes));
    const std::int64_t first = own_parts.empty() ? 0 : own_parts.back().end;
    const std::int64_t wanted = (rows_of(shape, data.graph.num_nodes) - first) / shape.block_rows;
    const std::int64_t blocks =
        std::min(wanted, std::min(static_cast<std::int64_t>(free_bytes) - left_free(shape), shape.most_kept) /
                             own_block_bytes());
    if (blocks <= 0) return;
    const auto bytes = static_cast<std::size_t>(blocks * own_block_bytes());
    more_own_parts = make_device_array<std::byte>(bytes, "the last layer's own parts");
    keep_own_parts_in({more_own_parts.get(), bytes});
  }

  /// Where the own parts of nodes [first, end) are kept, as if those of node 0 were there, too; null: they are not.
  std::byte* own_part_of(std::int64_t first, std::int64_t end) const {
    for (const OwnRange& range : own_parts)
      if (range.first <= first && end <= range.end) return range.rows - range.first * classes() * kSize;
    return nullptr;
  }

  /// The rows that layer i reads.
  FeatureRows table(std::size_t i) const {
    if (i == 0) return data.features;
    return {kept[(i - 1) % 2].get(), FeatureType::kF16, hidden()};
  }
  NeighborGather gather(const FeatureRows& rows, const NodeBlock& block, const Side& side) const {
    return {data.graph, block, rows, side.scratch(beyond_f16.get(), shape.max_pieces)};
  }

  /// Behind it `operand` has what products read.
  void aggregate(const NeighborGather& rows, void* operand, cudaStream_t stream) const {
    if (products->reads_means_alone(rows.block))
      all_neighbors_means(rows, operand, stream);
    else
      all_neighbors_operand(rows, operand, stream);
  }

  /// Of the block of nodes that `first` begins, of layer i, which is hidden.
  ExactResults results_of(std::size_t i, std::int64_t first) const {
    if (i + 2 < widths.size())
      return {kept[i % 2].get() + first * hidden() * kSize, nullptr, nullptr, beyond_f16.get()};
    std::byte* const own = own_part_of(first, first + shape.block_rows);
    const std::int64_t offset = first * classes() * kSize;
    return {nullptr, projected.get() + offset, own == nullptr ? nullptr : own + offset, beyond_f16.get()};
  }

  /// Layer i, which is hidden, of all nodes.
  void compute(std::size_t i) {
    const auto num_nodes = static_cast<std::int64_t>(data.graph.num_nodes);
    for (const Side& side : sides) side.used.make_wait(gathering.get());  // the rows of the layer before
    std::size_t turn = 0;
    for (std::int64_t first = 0; first < num_nodes; first += shape.block_rows) {
      const NodeBlock block{nullptr, static_cast<NodeId>(first), std::min(shape.block_rows, num_nodes - first)};
      Side& side = sides[turn++ % sides.size()];
      side.used.make_wait(gathering.get());
      NeighborGather rows = gather(table(i), block, side);
      rows.multiprocessors = first == 0 ? num_multiprocessors : num_gathering;
      aggregate(rows, side.operand.get(), gathering.get());
      side.gathered.record(gathering.get());
      side.gathered.make_wait(multiplying.get());
      const bool is_last = first + shape.block_rows >= num_nodes;  // no gather runs beside its products
      products->run(i, block, side.operand.get(), results_of(i, first),
                    num_multiprocessors - (is_last ? 0 : num_gathering), multiplying.get());
      side.used.record(multiplying.get());
    }
  }

  void start(std::span<const SageWeights> of_model, cudaStream_t stream) {
    require(!has_spent_features, "features that were overwritten are not read again");
    has_spent_features = keeps_in_features;
    cuda_check(cudaMemsetAsync(beyond_f16.get(), 0, sizeof(std::int32_t), stream));
    products->pack(of_model, stream);
    begun.record(stream);
    begun.make_wait(gathering.get());
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) compute(i);
    for (const Side& side : sides) side.used.make_wait(stream);
    num_predicted = 0;
  }

  /// Nodes that follow each other need no list.
  NodeBlock block_of(std::span<const NodeId> of, cudaStream_t stream) const {
    const auto count = static_cast<std::int64_t>(of.size());
    const bool has_gap = std::ranges::adjacent_find(of, [](NodeId a, NodeId b) { return a + 1 != b; }) != of.end();
    if (!has_gap) return {nullptr, of.empty() ? NodeId{0} : of.front(), count};
    cuda_check(cudaMemcpyAsync(nodes.get(), of.data(), of.size_bytes(), cudaMemcpyHostToDevice, stream));
    return {nodes.get(), 0, count};
  }

  /// Computed again if they were not kept.
  OwnParts own_parts_of(std::span<const NodeId> of, const NodeBlock& block, const Side& side, cudaStream_t stream) {
    const auto [least, most] = std::ranges::minmax(of);
    if (const std::byte* const rows = own_part_of(least, std::int64_t{most} + 1)) return {rows, /*is_of_nodes=*/true};
    const std::size_t before_last = widths.size() - 2;
    aggregate(gather(table(before_last), block, side), side.operand.get(), stream);
    products->run(before_last, block, side.operand.get(), {nullptr, nullptr, block_own.get(), beyond_f16.get()},
                  num_multiprocessors, stream);
    return {block_own.get(), /*is_of_nodes=*/false};
  }

  /// A block is gathered while the caller does what it does with the block before.
  const float* predict(std::span<const NodeId> of, cudaStream_t stream) {
    require(!of.empty() && static_cast<std::int64_t>(of.size()) <= shape.block_rows,
            "a block has no more nodes than was said");
    Side& side = sides[num_predicted++ % sides.size()];
    Side& side_before = sides[num_predicted % sides.size()];
    side.used.record(stream);
    const NodeBlock block = block_of(of, stream);
    const OwnParts own = own_parts_of(of, block, side, stream);
    if (block.nodes == nullptr && own.is_of_nodes && num_predicted > 1) {
      side_before.used.make_wait(gathering.get());  // all that was enqueued before the block before
    } else {
      side.gathered.record(stream);
      side.gathered.make_wait(gathering.get());
    }
    const NeighborGather rows = gather({projected.get(), FeatureType::kF16, classes()}, block, side);
    auto* const logits = reinterpret_cast<float*>(side.operand.get());
    sum_with_neighbors(rows, own, logits, gathering.get());
    side.gathered.record(gathering.get());
    side.gathered.make_wait(stream);
    return logits;
  }

  const ExactShape shape;
  const StepInputs data;
  const std::vector<ExactWidth> widths;
  std::array<Side, 2> sides;  // of blocks in turns
  DeviceArray<std::byte> block_own, projected;
  std::array<DeviceArray<std::byte>, 2> kept;  // of layer i in kept[i % 2]
  DeviceArray<NodeId> nodes;
  DeviceArray<std::int32_t> beyond_f16;
  std::optional<ExactProducts> products;
  std::vector<OwnRange> own_parts;  // nodes in order
  DeviceArray<std::byte> more_own_parts;
  const UrgentStream gathering;  // before products, which fill every multiprocessor that they get
  const CudaStream multiplying;
  CudaEvent begun{CudaEvent::Kind::kOrder};
  bool keeps_in_features = false, has_spent_features = false;
  std::size_t num_predicted = 0;  // blocks since start()
  const int num_multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
  const int num_gathering = multiprocessors_of_gather(num_multiprocessors);
};

ExactForward::ExactForward(const ExactShape& shape, const StepInputs& data, std::span<std::byte> spent_features)
    : impl_(std::make_unique<Impl>(shape, data, spent_features)) {}
ExactForward::~ExactForward() { (void)cudaDeviceSynchronize(); }

void ExactForward::start(std::span<const SageWeights> weights, cudaStream_t stream) { impl_->start(weights, stream); }
const float* ExactForward::predict(std::span<const NodeId> nodes, cudaStream_t stream) {
  return impl_->predict(nodes, stream);
}
std::int64_t ExactForward::logits_stride() const { return impl_->classes(); }

bool ExactForward::is_beyond_f16(cudaStream_t stream) const {
  std::int32_t found = 0;
  cuda_check(cudaMemcpyAsync(&found, impl_->beyond_f16.get(), sizeof found, cudaMemcpyDeviceToHost, stream));
  cuda_check(cudaStreamSynchronize(stream));
  return found != 0;
}

}  // namespace salient
