// tests/models/resident/fused_dropout_gpu_test.cpp - the bits of the fused layer's dropout, element by element.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/kernels/dropout.h"
#include "models/resident/fused_kernels.h"
#include "models/resident/fused_layer.h"
#include "tests/support/device_copy.h"

namespace salient {
namespace {

using test::OnDevice;

constexpr int kParents = 100, kFanout = 10;
constexpr StepHeader kHeader{.seed = 7, .epoch = 2, .global_step = 11};
constexpr std::size_t kWordsOfTile = kFusedThreads * 4;

/// Parents with 0 to kFanout children, in tiles.
struct Level {
  std::vector<LocalId> first_child{0};
  std::vector<NodeId> nodes;
  std::int64_t parents_of_tile = FusedTiles::parents_of(kFanout);

  Level() {
    for (int i = 0; i < kParents; ++i) first_child.push_back(first_child.back() + i * 7 % (kFanout + 1));
    for (LocalId i = 0; i < kParents + first_child.back(); ++i)
      nodes.push_back(static_cast<NodeId>(i) * 2654435761U >> 1);
  }
  std::int64_t num_tiles() const { return (kParents + parents_of_tile - 1) / parents_of_tile; }

  /// The row of a slot; negative if it has none.
  std::int64_t row_of(std::int64_t tile, int slot) const {
    const std::int64_t first = tile * parents_of_tile;
    const std::int64_t end = std::min<std::int64_t>(first + parents_of_tile, kParents);
    if (slot < kOwnSlots) return first + slot < end ? first + slot : -1;
    const std::int64_t child = first_child[static_cast<std::size_t>(first)] + slot - kOwnSlots;
    return child < first_child[static_cast<std::size_t>(end)] ? kParents + child : -1;
  }
};

/// Slot by slot and feature by feature, as fused_tiles.h places the bits.
std::vector<std::uint32_t> expected_bits(const Level& level, const DropoutMask& mask) {
  std::vector<std::uint32_t> bits(static_cast<std::size_t>(level.num_tiles()) * kWordsOfTile);
  for (std::int64_t tile = 0; tile < level.num_tiles(); ++tile)
    for (int slot = 0; slot < kSlots; ++slot) {
      const std::int64_t row = level.row_of(tile, slot);
      for (int feature = 0; row >= 0 && feature < kFusedWidth; ++feature) {
        const NodeId node = level.nodes[static_cast<std::size_t>(row)];
        const auto column = static_cast<std::uint32_t>(feature);
        if (!is_kept(mask, node, column)) continue;
        const FeatureOwner owner = FeatureOwner::of(feature / 2 * 2, slot % 8 / 2);
        const int word = owner.thread * 4 + owner.block * 2 + slot / 64;
        const int bit = slot % 64 / 16 * 8 + slot % 16 / 8 * 4 + feature % 2 * 2 + slot % 2;
        bits[static_cast<std::size_t>(tile) * kWordsOfTile + static_cast<std::size_t>(word)] |= 1U << bit;
      }
    }
  return bits;
}

class FusedDropoutBits : public testing::TestWithParam<double> {};

TEST_P(FusedDropoutBits, AreThoseOfTheMask) {
  if (!FusedLayer::fits({kSlots, 256, kParents, kFanout}, ActivationType::kBf16, kFusedWidth))
    GTEST_SKIP() << "this GPU has no such kernel";
  const Level level;
  const DropoutMask mask = DropoutMask::make(GetParam(), kHeader.seed, kHeader.global_step, 3);
  const std::vector<std::uint32_t> expected = expected_bits(level, mask);
  const CudaStream stream;
  const OnDevice<LocalId> count({kParents}, stream), first_child(level.first_child, stream);
  const OnDevice<NodeId> nodes(level.nodes, stream);
  const OnDevice<StepHeader> header({kHeader}, stream);
  const OnDevice<std::uint32_t> bits(std::vector<std::uint32_t>(expected.size(), 0xA5A5A5A5), stream);
  FusedArguments arguments;
  arguments.tiles = {count.get(), first_child.get(), bits.get(), static_cast<int>(level.parents_of_tile)};
  arguments.max_tiles = level.num_tiles() + 3;  // capacity that this batch does not need
  fused_dropout(arguments, {nodes.get(), {header.get(), 3, mask.threshold, mask.scale}}, stream.get());
  EXPECT_EQ(bits.read(stream), expected);
}

INSTANTIATE_TEST_SUITE_P(Shares, FusedDropoutBits, testing::Values(0.0, 0.00002, 0.3, 0.5, 0.99999, 1.0));

}  // namespace
}  // namespace salient
