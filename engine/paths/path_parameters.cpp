// engine/paths/path_parameters.cpp - see path_parameters.h.
#include "engine/paths/path_parameters.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <span>

#include "core/error.h"
#include "core/files/safetensors.h"
#include "core/philox.h"

namespace salient {
namespace {

enum class Start : std::uint8_t { kUniform, kNormal, kOne, kZero };

struct Tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::size_t begin;
  Start start;
  std::int64_t fan_in = 1;  ///< of kUniform

  std::size_t size() const {
    std::int64_t product = 1;
    for (const std::int64_t length : shape) product *= length;
    return static_cast<std::size_t>(product);
  }
};

std::vector<Tensor> tensors_of(const PathShape& shape, const PathPlaces& places) {
  const std::int64_t d = shape.hidden, wide = shape.relation_width();
  std::vector<Tensor> tensors{{"query.weight", {shape.num_relations, d}, places.query, Start::kNormal}};
  for (std::size_t l = 0; l < places.layers.size(); ++l) {
    const PathLayerPlaces& at = places.layers[l];
    const std::string layer = "layers." + std::to_string(l) + ".";
    tensors.push_back({layer + "layer_norm.weight", {d}, at.norm, Start::kOne});
    tensors.push_back({layer + "layer_norm.bias", {d}, at.norm_bias, Start::kZero});
    tensors.push_back({layer + "linear.weight", {d, 2 * d}, at.linear, Start::kUniform, 2 * d});
    tensors.push_back({layer + "linear.bias", {d}, at.linear_bias, Start::kUniform, 2 * d});
    tensors.push_back({layer + "relation_linear.weight", {wide, d}, at.relations, Start::kUniform, d});
    tensors.push_back({layer + "relation_linear.bias", {wide}, at.relations_bias, Start::kUniform, d});
  }
  tensors.push_back({"mlp.0.weight", {2 * d, 2 * d}, places.hidden, Start::kUniform, 2 * d});
  tensors.push_back({"mlp.0.bias", {2 * d}, places.hidden_bias, Start::kUniform, 2 * d});
  tensors.push_back({"mlp.2.weight", {1, 2 * d}, places.score, Start::kUniform, 2 * d});
  tensors.push_back({"mlp.2.bias", {1}, places.score_bias, Start::kUniform, 2 * d});
  return tensors;
}

/// Number i of tensor t in (0, 1].
double unit_draw(std::uint32_t seed, std::uint32_t tensor, std::uint32_t kind, std::size_t i) {
  const PhiloxBlock block =
      philox4x32({{seed, 0x50415448}},
                 {{static_cast<std::uint32_t>(i / 4), static_cast<std::uint32_t>((i / 4) >> 32), tensor, kind}});
  return (static_cast<double>(block.word[i % 4]) + 1) * 0x1p-32;
}

void fill(const Tensor& tensor, std::uint32_t seed, std::uint32_t number, std::span<float> values) {
  const double bound = 1 / std::sqrt(static_cast<double>(tensor.fan_in));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto draw = [&](std::uint32_t kind) { return unit_draw(seed, number, kind, i); };
    switch (tensor.start) {
      case Start::kUniform: values[i] = static_cast<float>(bound * (2 * draw(0) - 1)); break;
      case Start::kNormal:  // by Box and Muller
        values[i] = static_cast<float>(std::sqrt(-2 * std::log(draw(0))) * std::cos(2 * std::numbers::pi * draw(1)));
        break;
      case Start::kOne: values[i] = 1; break;
      case Start::kZero: values[i] = 0; break;
    }
  }
}

}  // namespace

PathPlaces::PathPlaces(const PathShape& shape) {
  const auto d = static_cast<std::size_t>(shape.hidden), wide = static_cast<std::size_t>(shape.relation_width());
  const auto take = [this](std::size_t count) { return std::exchange(size, size + count); };
  layers.resize(static_cast<std::size_t>(shape.layers));
  for (PathLayerPlaces& layer : layers) {
    layer.linear = take(2 * d * d);
    layer.linear_bias = take(d);
    layer.norm = take(d);
    layer.norm_bias = take(d);
  }
  this->hidden = take(4 * d * d);
  hidden_bias = take(2 * d);
  score = take(2 * d);
  score_bias = take(1);
  local_size = size;
  for (PathLayerPlaces& layer : layers) {
    layer.relations = take(wide * d);
    layer.relations_bias = take(wide);
  }
  query = take(wide);
  const auto row = static_cast<std::size_t>(kPathRow);
  size = (size + row - 1) / row * row;
}

PathParameters::PathParameters(const PathShape& of, std::uint32_t seed) : shape(of), places(of), values(places.size) {
  const std::vector<Tensor> tensors = tensors_of(shape, places);
  for (std::size_t t = 0; t < tensors.size(); ++t)
    fill(tensors[t], seed, static_cast<std::uint32_t>(t),
         std::span(values).subspan(tensors[t].begin, tensors[t].size()));
}

FileDigest write_path_parameters(const std::filesystem::path& path, const PathParameters& parameters) {
  std::vector<TensorInfo> infos;
  for (const Tensor& tensor : tensors_of(parameters.shape, parameters.places))
    infos.push_back({tensor.name, TensorType::kF32, tensor.shape,
                     std::as_bytes(std::span(parameters.values).subspan(tensor.begin, tensor.size()))});
  return write_safetensors(path, infos, {{"model", "nbfnet"}, {"aggregate", name_of(parameters.shape.sum)}});
}

void read_path_parameters(const std::filesystem::path& path, PathParameters& parameters) {
  const SafetensorsFile file(path);
  for (const Tensor& tensor : tensors_of(parameters.shape, parameters.places)) {
    const TensorInfo* found = file.view().find(tensor.name);
    if (found == nullptr) fail(ErrorKind::kBadData, file.name() + ": tensor " + tensor.name + " is missing");
    if (found->type != TensorType::kF32 || found->shape != tensor.shape)
      fail(ErrorKind::kBadData, file.name() + ": tensor " + tensor.name + " has another type or shape");
    std::memcpy(parameters.values.data() + tensor.begin, found->bytes.data(), found->bytes.size());
  }
}

}  // namespace salient
