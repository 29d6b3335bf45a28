// engine/paths/path_parameters.h - the parameters of a path-based model: one array, and which tensor is where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/file_io.h"
#include "engine/paths/path_options.h"

namespace salient {

struct PathShape {
  std::int64_t hidden = 0;  ///< d, a multiple of 8
  std::int64_t layers = 0;
  std::int64_t num_relations = 0;  ///< R, reverses included
  PathSum sum = PathSum::kSum;

  std::int64_t relation_width() const { return num_relations * hidden; }
  bool operator==(const PathShape&) const = default;
};

/// Where the tensors of a layer begin.
struct PathLayerPlaces {
  std::size_t linear, linear_bias;        ///< [d, 2 d] of a node's row and its messages, [d]
  std::size_t norm, norm_bias;            ///< [d]
  std::size_t relations, relations_bias;  ///< [R d, d], [R d]: the relations' rows of a query's row
};

/// Where every tensor begins. What a pass reads itself comes first, [0, local_size); rows of relations and queries are
/// products of whole batches.
struct PathPlaces {
  std::vector<PathLayerPlaces> layers{};
  std::size_t hidden = 0, hidden_bias = 0;  ///< of the score: [2 d, 2 d] of a node's row and the query's, [2 d]
  std::size_t score = 0, score_bias = 0;    ///< [2 d], [1]
  std::size_t query = 0;                    ///< [R, d]
  std::size_t local_size = 0, size = 0;     ///< size: a multiple of kPathRow, zeros at the end

  explicit PathPlaces(const PathShape& shape);
};

/// The optimiser moves so many numbers at a time.
inline constexpr std::int64_t kPathRow = 64;

struct PathParameters {
  PathShape shape{};
  PathPlaces places;
  std::vector<float> values{};  ///< [places.size]

  /// As torch's Linear, LayerNorm and Embedding start; a function of the seed, the tensor and the place in it.
  PathParameters(const PathShape& of, std::uint32_t seed);
};

/// Writes them under the names of the reference implementation: query.weight, layers.0.linear.weight,
/// layers.0.layer_norm.weight, layers.0.relation_linear.weight, mlp.0.weight, mlp.2.weight and so on.
/// @throws as write_safetensors()
FileDigest write_path_parameters(const std::filesystem::path& path, const PathParameters& parameters);

/// The inverse. @throws Error{kBadData} naming the tensor that is missing, or has another shape; as SafetensorsFile
void read_path_parameters(const std::filesystem::path& path, PathParameters& parameters);

}  // namespace salient
