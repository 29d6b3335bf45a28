// engine/links/embeddings.h - learned rows of nodes and relations: an embedding model of a knowledge graph.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/file_io.h"
#include "core/files/safetensors.h"
#include "models/describe/decoder_kind.h"

namespace salient {

/// What shapes the rows.
struct EmbeddingShape {
  DecoderKind decoder = DecoderKind::kComplex;  ///< kDistmult, kComplex or kRotate
  std::int64_t hidden = 0;
  std::int64_t num_nodes = 0, num_relations = 0;

  std::int64_t node_width() const { return hidden * node_halves(decoder); }
  std::int64_t relation_width() const { return hidden * relation_halves(decoder); }
  bool operator==(const EmbeddingShape&) const = default;
};

/// Rows of nodes and of relations; a complex row is its real half and then its imaginary one.
struct Embeddings {
  EmbeddingShape shape{};
  std::vector<float> nodes{};      ///< [num_nodes, node_width]
  std::vector<float> relations{};  ///< [num_relations, relation_width]

  Embeddings() = default;
  explicit Embeddings(const EmbeddingShape& of)
      : shape(of),
        nodes(static_cast<std::size_t>(of.num_nodes * of.node_width())),
        relations(static_cast<std::size_t>(of.num_relations * of.relation_width())) {}

  const float* node(std::int64_t i) const { return nodes.data() + i * shape.node_width(); }
  const float* relation(std::int64_t i) const { return relations.data() + i * shape.relation_width(); }
  bool operator==(const Embeddings&) const = default;
};

/// As PyG's models start: uniform within sqrt(6 / (rows + hidden)), angles of kRotate within 0 to 2 pi. A function of
/// the seed, the table, the row and the column.
Embeddings initial_embeddings(const EmbeddingShape& shape, std::uint32_t seed);

/// Writes them under the names of torch_geometric.nn.kge: node_emb.weight, node_emb_im.weight, rel_emb.weight,
/// rel_emb_im.weight, those that the decoder has. @throws as write_safetensors()
FileDigest write_embeddings(const std::filesystem::path& path, const Embeddings& embeddings);

/// The inverse. @throws Error{kBadData} naming the tensor that is missing, or has another shape; as SafetensorsFile
Embeddings read_embeddings(const std::filesystem::path& path, const EmbeddingShape& shape);

}  // namespace salient
