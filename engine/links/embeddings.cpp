// engine/links/embeddings.cpp - see embeddings.h.
#include "engine/links/embeddings.h"

#include <cmath>
#include <cstring>
#include <numbers>

#include "core/error.h"
#include "core/philox.h"

namespace salient {
namespace {

/// One tensor of PyG's: `half` of each row of a table.
struct Half {
  const char* name;
  bool of_nodes;
  std::int64_t half;
};
constexpr Half kHalves[] = {{"node_emb.weight", true, 0},
                            {"node_emb_im.weight", true, 1},
                            {"rel_emb.weight", false, 0},
                            {"rel_emb_im.weight", false, 1}};

bool has_half(const EmbeddingShape& shape, const Half& half) {
  return half.half < (half.of_nodes ? node_halves(shape.decoder) : relation_halves(shape.decoder));
}

/// Calls use(place of the half in the table, place in the tensor) for each row; both are [hidden].
template <class Use>
void for_each_row(const EmbeddingShape& shape, const Half& half, Use use) {
  const std::int64_t rows = half.of_nodes ? shape.num_nodes : shape.num_relations;
  const std::int64_t width = half.of_nodes ? shape.node_width() : shape.relation_width();
  for (std::int64_t i = 0; i < rows; ++i) use(i * width + half.half * shape.hidden, i * shape.hidden);
}

float unit_draw(std::uint32_t seed, std::uint32_t table, std::size_t at) {
  const PhiloxBlock block =
      philox4x32({{seed, 0x454D4244}},
                 {{static_cast<std::uint32_t>(at / 4), static_cast<std::uint32_t>((at / 4) >> 32), table, 0}});
  return static_cast<float>(block.word[at % 4] >> 8) * 0x1p-24F;
}

void fill(std::vector<float>& values, std::uint32_t seed, std::uint32_t table, float low, float high) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = low + (high - low) * unit_draw(seed, table, i);
}

float xavier(std::int64_t rows, std::int64_t hidden) {
  return static_cast<float>(std::sqrt(6.0 / static_cast<double>(rows + hidden)));
}

}  // namespace

Embeddings initial_embeddings(const EmbeddingShape& shape, std::uint32_t seed) {
  Embeddings embeddings(shape);
  const float node_bound = xavier(shape.num_nodes, shape.hidden);
  fill(embeddings.nodes, seed, 0, -node_bound, node_bound);
  const float bound = xavier(shape.num_relations, shape.hidden);
  if (shape.decoder == DecoderKind::kRotate)
    fill(embeddings.relations, seed, 1, 0, 2 * std::numbers::pi_v<float>);
  else
    fill(embeddings.relations, seed, 1, -bound, bound);
  return embeddings;
}

FileDigest write_embeddings(const std::filesystem::path& path, const Embeddings& embeddings) {
  const EmbeddingShape& shape = embeddings.shape;
  std::vector<std::vector<float>> values;
  std::vector<TensorInfo> tensors;
  values.reserve(std::size(kHalves));
  for (const Half& half : kHalves) {
    if (!has_half(shape, half)) continue;
    const std::vector<float>& table = half.of_nodes ? embeddings.nodes : embeddings.relations;
    const std::int64_t rows = half.of_nodes ? shape.num_nodes : shape.num_relations;
    std::vector<float>& tensor = values.emplace_back(static_cast<std::size_t>(rows * shape.hidden));
    for_each_row(shape, half, [&](std::int64_t from, std::int64_t to) {
      std::copy_n(table.begin() + from, shape.hidden, tensor.begin() + to);
    });
    tensors.push_back({half.name, TensorType::kF32, {rows, shape.hidden}, std::as_bytes(std::span(tensor))});
  }
  return write_safetensors(path, tensors, {{"decoder", name_of(shape.decoder)}});
}

Embeddings read_embeddings(const std::filesystem::path& path, const EmbeddingShape& shape) {
  const SafetensorsFile file(path);
  Embeddings embeddings(shape);
  for (const Half& half : kHalves) {
    if (!has_half(shape, half)) continue;
    const std::int64_t rows = half.of_nodes ? shape.num_nodes : shape.num_relations;
    const TensorInfo* tensor = file.view().find(half.name);
    if (tensor == nullptr) fail(ErrorKind::kBadData, file.name() + ": tensor " + half.name + " is missing");
    if (tensor->type != TensorType::kF32 || tensor->shape != std::vector<std::int64_t>{rows, shape.hidden})
      fail(ErrorKind::kBadData, file.name() + ": tensor " + half.name + " is not F32 of [" + std::to_string(rows) +
                                    ", " + std::to_string(shape.hidden) + "]");
    std::vector<float>& table = half.of_nodes ? embeddings.nodes : embeddings.relations;
    const auto row_bytes = static_cast<std::size_t>(shape.hidden) * sizeof(float);
    for_each_row(shape, half, [&](std::int64_t to, std::int64_t from) {
      std::memcpy(table.data() + to, tensor->bytes.data() + static_cast<std::size_t>(from) * sizeof(float), row_bytes);
    });
  }
  return embeddings;
}

}  // namespace salient
