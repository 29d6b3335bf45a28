// store/synthetic_nodes.cpp - see synthetic_nodes.h.
#include "store/synthetic_nodes.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/fp8.h"
#include "store/index_permutation.h"

namespace salient {

namespace {
constexpr std::uint32_t kDataKey = 0x44415441;
}  // namespace

SyntheticNodes::SyntheticNodes(const SyntheticOptions& options)
    : options_(options), communities_(options), means_(static_cast<std::size_t>(options.num_classes) * row_items()) {
  for (std::size_t i = 0; i < means_.size(); ++i) {
    const auto community = static_cast<std::uint32_t>(i / row_items());
    const auto feature = static_cast<std::uint32_t>(i % row_items());
    const bool is_up = draw(SyntheticDraw::kFeatureMean, community, feature).word[0] >> 31 != 0;
    means_[i] = static_cast<float>(is_up ? options_.feature_signal : -options_.feature_signal);
  }
}

PhiloxBlock SyntheticNodes::draw(SyntheticDraw what, std::uint32_t a, std::uint32_t b) const {
  return philox4x32({{options_.seed, kDataKey}}, {{a, b, 0, static_cast<std::uint32_t>(what)}});
}

std::uint64_t SyntheticNodes::first_rank_of_split() const {
  const std::uint64_t needed = options_.split[0] + options_.split[1] + options_.split[2];
  const auto share = static_cast<std::uint64_t>(options_.train_communities * static_cast<double>(options_.num_nodes));
  int first = options_.num_classes - 1;  // communities shrink with their number
  while (first > 0 && options_.num_nodes - communities_.first_rank(first) < std::max(share, needed)) --first;
  return communities_.first_rank(first);
}

std::array<std::vector<NodeId>, 3> SyntheticNodes::split() const {
  const bool is_clustered = options_.train_communities < 1;
  const std::uint64_t first = is_clustered ? first_rank_of_split() : 0;
  const IndexPermutation order(options_.num_nodes - first, {{options_.seed, kDataKey}},
                               static_cast<std::uint32_t>(SyntheticDraw::kSplit));
  std::array<std::vector<NodeId>, 3> split;
  std::uint64_t next = 0;
  for (std::size_t part = 0; part < split.size(); ++part) {
    split[part].resize(options_.split[part]);
    for (NodeId& node : split[part]) {
      const std::uint64_t drawn = order(next++);
      node = is_clustered ? communities_.node_of(first + drawn) : static_cast<NodeId>(drawn);
    }
  }
  return split;
}

std::int32_t SyntheticNodes::label_of(NodeId node) const {
  const PhiloxBlock words = draw(SyntheticDraw::kLabel, node);
  const bool is_faithful = words.word[0] * 0x1p-32 < options_.label_fidelity;
  const std::uint64_t random_rank = std::uint64_t{words.word[1]} * options_.num_nodes >> 32;
  return communities_.community_of(is_faithful ? communities_.rank_of(node) : random_rank);
}

void SyntheticNodes::draw_features(NodeId node, std::span<float> row) const {
  require(row.size() == row_items(), "a row has room for whole blocks");
  const auto community = static_cast<std::size_t>(communities_.community_of(communities_.rank_of(node)));
  const float* mean = means_.data() + community * row.size();
  for (std::uint32_t block = 0; block < row.size() / 4; ++block) {
    const PhiloxBlock words = draw(SyntheticDraw::kFeatureNoise, node, block);
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t w = words.word[i], pairs = (w & 0x00FF00FF) + (w >> 8 & 0x00FF00FF);
      const auto sum = static_cast<std::int32_t>((pairs & 0xFFFF) + (pairs >> 16));
      const std::size_t j = std::size_t{4} * block + i;
      row[j] = (static_cast<float>(sum - 510) + mean[j]) * kNoiseScale;
    }
  }
}

void SyntheticNodes::write_features(std::size_t first, std::size_t count, std::byte* out) const {
  const auto dim = static_cast<std::size_t>(options_.feature_dim), row_bytes = dim * size_of(options_.feature_type);
  std::vector<float> row(row_items());
  for (std::size_t i = 0; i < count; ++i) {
    draw_features(static_cast<NodeId>(first + i), row);
    std::byte* const to = out + i * row_bytes;
    if (options_.feature_type == FeatureType::kFp8)
      floats_to_fp8(row.data(), dim, kSyntheticFp8Scale, to);
    else if (options_.feature_type == FeatureType::kF16)
      floats_to_halves(row.data(), dim, reinterpret_cast<std::uint16_t*>(to));
    else
      std::memcpy(to, row.data(), row_bytes);
  }
}

}  // namespace salient
