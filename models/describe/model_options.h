// models/describe/model_options.h - the choices that make a model, and the rules between them. Free of LibTorch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/enum_names.h"
#include "core/field_problem.h"
#include "models/describe/graph_types.h"

namespace salient {

/// The last four are of typed graphs, the others of plain ones.
enum class ModelKind : std::uint8_t {
  kSage,
  kGat,
  kGin,
  kSageRi,
  kGcn,
  kGatv2,
  kTransformer,
  kGine,
  kRgcn,
  kRsage,
  kRgat,
  kHgt
};
enum class NormKind : std::uint8_t { kNone, kBatch, kLayer };  ///< between hidden layers
enum class JumpingKnowledge : std::uint8_t { kNone, kCat, kMax };
enum class Aggregation : std::uint8_t { kMean, kMax };

/// The weight of a neighbour's row in gcn.
enum class GcnNorm : std::uint8_t {
  kSymmetric,  ///< 1 / sqrt(d_i d_j), by the degrees of the whole graph: Kipf and Welling
  kRow,        ///< 1 / (number of kept neighbours, and the node itself)
};

/// What gin takes for the sum over the neighbours of a sampled node.
enum class GinSum : std::uint8_t {
  kScaled,  ///< that of the kept ones times (all) / (kept): unbiased
  kPlain,   ///< that of the kept ones
};

/// Whether a model that can read the features of edges does.
enum class EdgeFeatures : std::uint8_t {
  kAuto,  ///< where the data set has some
  kNone,
};

/// How a neighbour counts, beside what the model itself makes of it.
enum class AggregateBy : std::uint8_t {
  kCount,   ///< each entry alike
  kWeight,  ///< by the weight of its edge: models/edge_weights.h
};

enum class InitScheme : std::uint8_t {
  kPyg,     ///< as torch and PyG: uniform within 1 / sqrt(fan_in)
  kXavier,  ///< as SALIENT's artifact
};

/// How matrices are multiplied; everything else is f32.
enum class Precision : std::uint8_t {
  kFp32,
  kTf32,  ///< on a GPU: tensor cores, inputs rounded to 10 bits of mantissa
  kBf16,  ///< inputs rounded to bfloat16, sums in f32: tensor cores, or AVX-512 BF16 and AMX
};

constexpr auto names_of(ModelKind) {
  return std::to_array<EnumName<ModelKind>>({{ModelKind::kSage, "sage"},
                                             {ModelKind::kGat, "gat"},
                                             {ModelKind::kGin, "gin"},
                                             {ModelKind::kSageRi, "sage-ri"},
                                             {ModelKind::kGcn, "gcn"},
                                             {ModelKind::kGatv2, "gatv2"},
                                             {ModelKind::kTransformer, "transformer"},
                                             {ModelKind::kGine, "gine"},
                                             {ModelKind::kRgcn, "rgcn"},
                                             {ModelKind::kRsage, "rsage"},
                                             {ModelKind::kRgat, "rgat"},
                                             {ModelKind::kHgt, "hgt"}});
}
constexpr auto names_of(NormKind) {
  return std::to_array<EnumName<NormKind>>(
      {{NormKind::kNone, "none"}, {NormKind::kBatch, "batch"}, {NormKind::kLayer, "layer"}});
}
constexpr auto names_of(JumpingKnowledge) {
  return std::to_array<EnumName<JumpingKnowledge>>(
      {{JumpingKnowledge::kNone, "none"}, {JumpingKnowledge::kCat, "cat"}, {JumpingKnowledge::kMax, "max"}});
}
constexpr auto names_of(Aggregation) {
  return std::to_array<EnumName<Aggregation>>({{Aggregation::kMean, "mean"}, {Aggregation::kMax, "max"}});
}
constexpr auto names_of(GcnNorm) {
  return std::to_array<EnumName<GcnNorm>>({{GcnNorm::kSymmetric, "symmetric"}, {GcnNorm::kRow, "row"}});
}
constexpr auto names_of(GinSum) {
  return std::to_array<EnumName<GinSum>>({{GinSum::kScaled, "scaled"}, {GinSum::kPlain, "plain"}});
}
constexpr auto names_of(EdgeFeatures) {
  return std::to_array<EnumName<EdgeFeatures>>({{EdgeFeatures::kAuto, "auto"}, {EdgeFeatures::kNone, "none"}});
}
constexpr auto names_of(AggregateBy) {
  return std::to_array<EnumName<AggregateBy>>({{AggregateBy::kCount, "plain"}, {AggregateBy::kWeight, "weighted"}});
}
constexpr auto names_of(InitScheme) {
  return std::to_array<EnumName<InitScheme>>({{InitScheme::kPyg, "pyg"}, {InitScheme::kXavier, "xavier"}});
}
constexpr auto names_of(Precision) {
  return std::to_array<EnumName<Precision>>(
      {{Precision::kFp32, "fp32"}, {Precision::kTf32, "tf32"}, {Precision::kBf16, "bf16"}});
}

struct ModelOptions {
  ModelKind kind = ModelKind::kSage;
  int in_dim = 0;
  int hidden_dim = 256;
  int num_classes = 0;
  int num_layers = 3;
  double dropout = 0.5;
  NormKind norm = NormKind::kNone;
  bool residual = false;        ///< hidden layers add their input
  bool activate_input = false;  ///< of typed models: norm, ReLU and dropout behind the rows that layer 0 reads, too
  JumpingKnowledge jk = JumpingKnowledge::kNone;
  Aggregation aggr = Aggregation::kMean;  ///< of sage
  GcnNorm gcn_norm = GcnNorm::kSymmetric;
  GinSum gin_sum = GinSum::kPlain;  ///< of gin and gine
  EdgeFeatures edge_features = EdgeFeatures::kAuto;
  AggregateBy aggregate = AggregateBy::kCount;
  int edge_dim = 0;  ///< columns of the features of edges that the model reads, the next among them; 0 = it reads none
  int time_encoding = 0;  ///< columns that encode how long before its seed an edge was; 0 = none
  int heads = 1;          ///< of attention, in hidden layers
  int bases = 0;          ///< of rgcn: each relation's weight is a sum of so many, times numbers of its own; 0 = none
  int blocks = 0;         ///< of rgcn: blocks on the diagonal of the weights of hidden layers; 0 = none
  InitScheme init = InitScheme::kPyg;
  std::uint32_t seed = 1;
  GraphTypes types{};  ///< of a typed graph; in_dim is not looked at then

  bool operator==(const ModelOptions&) const = default;
};

/// A model of graphs that have node types and relations.
bool is_typed(ModelKind kind);

/// A model of sums behind an MLP, with two linear maps behind all layers.
bool is_gin(ModelKind kind);

/// Whether the model has a place for features of edges.
bool can_read_edge_features(ModelKind kind);

/// Whether the model has a place for the weights of edges; of sage with the mean alone.
bool can_aggregate_by_weight(ModelKind kind);

inline bool is_by_weight(const ModelOptions& options) { return options.aggregate == AggregateBy::kWeight; }

/// The logits are maps of the last layer's result, or of all of them, and not that result itself.
bool reads_out(const ModelOptions& options);

/// Every rule that these choices break; in_dim, num_classes, edge_dim and types are not looked at.
std::vector<FieldProblem> problems_of(const ModelOptions& options);

/// Why the model is not one of a graph of these types, with the models that are; "" = it is.
std::string obstacle_in_types(ModelKind kind, const GraphTypes& types);

}  // namespace salient
