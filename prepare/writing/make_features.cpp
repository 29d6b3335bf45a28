// prepare/writing/make_features.cpp - see make_features.h.
#include "prepare/writing/make_features.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "core/console/progress.h"
#include "core/error.h"
#include "core/host/interrupt.h"
#include "core/philox.h"
#include "prepare/formats/text_fields.h"

namespace salient {
namespace {

constexpr std::uint32_t kFeatureTag = 0x46454154;  // "FEAT"
constexpr const char* kWhat = "made features";

template <class Use>
void for_each_node(std::size_t num_nodes, Use use) {
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, num_nodes, 256), [&](const auto& range) {
    stop_if_interrupted();
    for (std::size_t v = range.begin(); v < range.end(); ++v) use(static_cast<NodeId>(v));
  });
}

/// Draws of mean 0 and deviation 1, in integers until the last step: the sum of four bytes.
void draw_row(NodeId node, std::uint32_t seed, std::span<float> row) {
  constexpr float kScale = 1 / 147.8F;  // their sum has this deviation
  PhiloxBlock words;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (j % 4 == 0) words = philox4x32({{seed, kFeatureTag}}, {{node, static_cast<std::uint32_t>(j / 4), 0, 0}});
    const std::uint32_t w = words.word[j % 4];
    const auto sum = static_cast<int>((w & 0xFF) + (w >> 8 & 0xFF) + (w >> 16 & 0xFF) + (w >> 24));
    row[j] = static_cast<float>(sum - 510) * kScale;
  }
}

/// A matrix [V, width] of floats, and what is done with it.
class Rows {
 public:
  Rows(std::size_t num_rows, std::size_t width) : width_(width), values_(num_rows * width) {}

  std::size_t num_rows() const { return width_ == 0 ? 0 : values_.size() / width_; }
  std::size_t width() const { return width_; }
  std::span<float> row(std::size_t v) { return {values_.data() + v * width_, width_}; }
  std::span<const float> row(std::size_t v) const { return {values_.data() + v * width_, width_}; }
  void swap(Rows& other) { values_.swap(other.values_); }

 private:
  std::size_t width_;
  std::vector<float> values_;
};

/// Blocks of rows whose sums are kept apart: a function of the sizes alone, as is the order of the additions.
struct RowBlocks {
  std::size_t size, count;
};

RowBlocks blocks_of(std::size_t num_rows, std::size_t width) {
  constexpr std::size_t kMaxSums = std::size_t{1} << 22;
  const std::size_t most = std::clamp<std::size_t>(kMaxSums / (width * width), 1, 256);
  const std::size_t size = std::max<std::size_t>(4096, num_rows / most + 1);
  return {size, (num_rows + size - 1) / size};
}

/// X^T X in double precision, summed block by block in one order whatever the threads.
std::vector<double> gram_matrix(const Rows& x) {
  const std::size_t k = x.width();
  const RowBlocks blocks = blocks_of(x.num_rows(), k);
  std::vector<std::vector<double>> partial(blocks.count, std::vector<double>(k * k, 0));
  oneapi::tbb::parallel_for(std::size_t{0}, blocks.count, [&](std::size_t b) {
    stop_if_interrupted();
    for (std::size_t v = b * blocks.size; v < std::min((b + 1) * blocks.size, x.num_rows()); ++v) {
      const std::span<const float> row = x.row(v);
      for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = 0; j <= i; ++j) partial[b][i * k + j] += double{row[i]} * double{row[j]};
    }
  });
  std::vector<double> gram(k * k, 0);
  for (const std::vector<double>& sum : partial)
    for (std::size_t i = 0; i < gram.size(); ++i) gram[i] += sum[i];
  return gram;
}

/// Lower triangle L of gram = L L^T; a column that depends on those before it gets a diagonal of 0.
std::vector<double> cholesky(std::vector<double> gram, std::size_t k) {
  std::vector<double> lower(k * k, 0);
  for (std::size_t j = 0; j < k; ++j) {
    double pivot = gram[j * k + j];
    for (std::size_t i = 0; i < j; ++i) pivot -= lower[j * k + i] * lower[j * k + i];
    if (!(pivot > 1e-10 * gram[j * k + j])) continue;
    lower[j * k + j] = std::sqrt(pivot);
    for (std::size_t i = j + 1; i < k; ++i) {
      double sum = gram[i * k + j];
      for (std::size_t m = 0; m < j; ++m) sum -= lower[i * k + m] * lower[j * k + m];
      lower[i * k + j] = sum / lower[j * k + j];
    }
  }
  return lower;
}

/// Makes the columns orthonormal, each by those before it; a dependent one becomes 0.
void orthonormalise(Rows& x) {
  const std::size_t k = x.width();
  const std::vector<double> lower = cholesky(gram_matrix(x), k);
  for_each_node(x.num_rows(), [&](NodeId v) {
    const std::span<float> row = x.row(v);
    for (std::size_t j = 0; j < k; ++j) {
      double value = row[j];
      for (std::size_t i = 0; i < j; ++i) value -= lower[j * k + i] * double{row[i]};
      const double pivot = lower[j * k + j];
      row[j] = pivot > 0 ? static_cast<float>(value / pivot) : 0.0F;
    }
  });
}

/// y = (x + D^-1/2 A D^-1/2 x) / 2, whose eigenvalues are 0 to 1.
void propagate(const CsrGraph& graph, std::span<const float> scale, const Rows& x, Rows& y) {
  for_each_node(x.num_rows(), [&](NodeId v) {
    const std::span<float> out = y.row(v);
    std::ranges::fill(out, 0.0F);
    for (const NodeId u : graph.row(v)) {
      const std::span<const float> row = x.row(u);
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += scale[u] * row[j];
    }
    const std::span<const float> own = x.row(v);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = 0.5F * (own[j] + scale[v] * out[j]);
  });
}

/// Column 0 is the first eigenvector, sqrt(d), which says nothing of the place and is left out at the end.
Rows positions(const CsrGraph& graph, std::size_t width, std::uint32_t seed, const MemoryLimit& memory) {
  constexpr int kSteps = 32, kStepsBetween = 2;
  const std::size_t num_nodes = graph.num_nodes();
  const std::size_t num_sums = (blocks_of(num_nodes, width + 1).count + 3) * (width + 1) * (width + 1);
  memory.check((2 * (width + 1) + 1) * num_nodes * sizeof(float) + num_sums * sizeof(double), kWhat);
  std::vector<float> scale(num_nodes);
  Rows x(num_nodes, width + 1), y(num_nodes, width + 1);
  for_each_node(num_nodes, [&](NodeId v) {
    const auto degree = static_cast<float>(graph.degree(v));
    scale[v] = degree > 0 ? 1 / std::sqrt(degree) : 0;
    draw_row(v, seed, x.row(v));
    x.row(v)[0] = std::sqrt(degree);
  });
  Progress progress("making features", kSteps, "steps");
  for (int step = 0; step < kSteps; ++step) {
    if (step % kStepsBetween == 0) orthonormalise(x);
    propagate(graph, scale, x, y);
    x.swap(y);
    progress.add(1);
  }
  orthonormalise(x);
  const auto factor = static_cast<float>(std::sqrt(static_cast<double>(num_nodes)));
  for_each_node(num_nodes, [&](NodeId v) {
    for (float& value : x.row(v)) value *= factor;
  });
  return x;
}

/// @param fill  fill(node, row)
template <class Fill>
RawFeatures filled(std::size_t num_nodes, std::size_t width, FeatureType type, const MemoryLimit& memory, Fill fill) {
  RawFeatures features{.type = type, .dim = static_cast<int>(width)};
  const std::size_t row_bytes = width * size_of(type);
  memory.check(num_nodes * row_bytes, kWhat);
  features.rows.resize(num_nodes * row_bytes);
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, num_nodes, 256), [&](const auto& range) {
    stop_if_interrupted();
    std::vector<float> row(width);
    for (std::size_t v = range.begin(); v < range.end(); ++v) {
      fill(static_cast<NodeId>(v), std::span(row));
      convert_features(row, type, features.dim, v * width, kWhat, features.rows.data() + v * row_bytes);
    }
  });
  return features;
}

RawFeatures degrees(const CsrGraph& graph, FeatureType type, const MemoryLimit& memory) {
  std::uint32_t largest = 0;
  for (NodeId v = 0; v < graph.num_nodes(); ++v) largest = std::max(largest, graph.degree(v));
  const std::size_t width = 2 + static_cast<std::size_t>(std::bit_width(largest));
  const float scale = largest > 0 ? 1 / std::log2(1 + static_cast<float>(largest)) : 0;
  return filled(graph.num_nodes(), width, type, memory, [&](NodeId v, std::span<float> row) {
    std::ranges::fill(row, 0.0F);
    row[0] = std::log2(1 + static_cast<float>(graph.degree(v))) * scale;
    row[1 + static_cast<std::size_t>(std::bit_width(graph.degree(v)))] = 1;
  });
}

}  // namespace

std::optional<FeatureRecipe> feature_recipe(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::optional<MadeFeatures> kind = value_named<MadeFeatures>(text.substr(0, colon));
  if (!kind) return std::nullopt;
  const bool has_width = *kind == MadeFeatures::kRandom || *kind == MadeFeatures::kPositional;
  FeatureRecipe recipe{.kind = *kind};
  if (!has_width) return colon == text.size() ? std::optional(recipe) : std::nullopt;
  if (colon == text.size() || !parse_number(text.substr(colon + 1), recipe.width)) return std::nullopt;
  return recipe.width >= 1 && recipe.width <= kMaxMadeWidth ? std::optional(recipe) : std::nullopt;
}

std::string text_of(const FeatureRecipe& recipe) {
  return name_of(recipe.kind) + (recipe.width > 0 ? ":" + std::to_string(recipe.width) : "");
}

FeatureOrigin origin_of(const FeatureRecipe& recipe, std::uint32_t seed) {
  if (recipe.kind == MadeFeatures::kNone) return {};
  FeatureOrigin origin{{"kind", name_of(recipe.kind)}};
  if (recipe.kind == MadeFeatures::kDegree) return origin;
  origin["width"] = std::to_string(recipe.width);
  origin["seed"] = std::to_string(seed);
  return origin;
}

RawFeatures make_features(const CsrGraph& graph, const FeatureRecipe& recipe, FeatureType type, std::uint32_t seed,
                          const MemoryLimit& memory) {
  const auto width = static_cast<std::size_t>(recipe.width);
  if (recipe.kind == MadeFeatures::kDegree) return degrees(graph, type, memory);
  if (recipe.kind == MadeFeatures::kRandom)
    return filled(graph.num_nodes(), width, type, memory,
                  [&](NodeId v, std::span<float> row) { draw_row(v, seed, row); });
  require(recipe.kind == MadeFeatures::kPositional, "features are made by a recipe");
  const Rows found = positions(graph, width, seed, memory);
  return filled(graph.num_nodes(), width, type, memory,
                [&](NodeId v, std::span<float> row) { std::ranges::copy(found.row(v).subspan(1), row.begin()); });
}

}  // namespace salient
