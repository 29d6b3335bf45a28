// tests/support/inference.h - inference on a small generated data set, with everything it hands out collected.
#pragma once

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/fp8.h"
#include "engine/infer/exact_inference.h"
#include "engine/infer/loader_predictions.h"
#include "engine/infer/sampled_inference.h"
#include "engine/plan/graph_types_of.h"
#include "models/batch_view.h"
#include "models/model.h"
#include "store/synthetic_typed.h"
#include "tests/support/datasets.h"

namespace salient::test {

/// generated_dataset() with features in [-1, 1] instead of arbitrary bits.
inline Dataset dataset_with_small_features(NodeId num_nodes, double mean_degree, int feature_dim, FeatureType type) {
  Dataset dataset = generated_dataset(num_nodes, mean_degree, feature_dim, type);
  struct Storage {
    std::shared_ptr<const void> graph{};
    std::vector<float> single{};
    std::vector<std::uint16_t> half{};
    std::vector<std::uint8_t> fp8{};
  };
  const auto storage = std::make_shared<Storage>();
  storage->graph = dataset.storage;
  for (std::size_t i = 0; i < num_nodes * static_cast<std::size_t>(feature_dim); ++i) {
    storage->single.push_back(std::sin(static_cast<float>(i * i % 1009)));
    storage->half.push_back(float_to_half(storage->single.back()));
    storage->fp8.push_back(float_to_fp8(storage->single.back() / 0.25F));
  }
  const auto bytes_of = [](const auto& values) { return std::as_bytes(std::span(values)).data(); };
  dataset.features.data = type == FeatureType::kF32   ? bytes_of(storage->single)
                          : type == FeatureType::kF16 ? bytes_of(storage->half)
                                                      : bytes_of(storage->fp8);
  dataset.storage = storage;
  return dataset;
}

/// 400 papers with features, which are targets and come behind 150 authors without any; fields lead nowhere but to
/// papers, which lead to them.
inline Dataset typed_dataset(FeatureType type) {
  return make_synthetic_dataset(
      SyntheticTypedOptions{
          .name = "typed",
          .types = {{"author", 150, 0}, {"paper", 400, 7}, {"field", 60, 3}},
          .edges = {{1, 1, "cites", 900, 30, 30}, {0, 1, "writes", 800, 20, 20}, {1, 2, "in", 500, 9, 90}},
          .target_type = 1,
          .num_classes = 5,
          .split = {150, 100, 100},
          .feature_type = type,
          .feature_signal = 2},
      /*num_threads=*/1);
}

/// Every model; "gat-edges" and others with features of edges, "gat-weights" and others with their weights;
/// "MODEL/NORM/residual|plain/JK/HEADS" for choices that change what layers and heads read. "gcn-row" and "gin-scaled"
/// are the other kind of sum.
inline std::vector<std::string> model_variants() {
  std::vector<std::string> variants;
  for (const auto& [kind, name] : names_of(ModelKind{})) variants.emplace_back(name);
  variants.insert(variants.end(), {"sage/batch/residual/cat/1", "gat/layer/residual/max/4", "gin/none/plain/cat/1",
                                   "gcn-row", "gin-scaled", "sage-edges", "gat-edges", "gatv2-edges",
                                   "transformer-edges", "sage-weights", "gcn-weights", "gat-weights",
                                   "transformer-weights", "rgat/layer/residual/cat/4", "hgt/none/plain/max/4"});
  return variants;
}

inline std::string name_of_variant(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

inline bool has_edges(const std::string& variant) { return variant == "gine" || variant.ends_with("-edges"); }

/// Of three layers, 16 wide; widths of a data set are not known.
inline ModelOptions options_of_variant(const std::string& variant) {
  std::vector<std::string> parts{""};
  for (const char c : variant) c == '/' ? parts.emplace_back() : parts.back() += c;
  ModelOptions options;
  if (parts[0] == "gcn-row") options.gcn_norm = GcnNorm::kRow;
  if (parts[0] == "gin-scaled") options.gin_sum = GinSum::kScaled;
  const bool is_model = value_named<ModelKind>(parts[0]).has_value();
  options.kind = value_named<ModelKind>(is_model ? parts[0] : parts[0].substr(0, parts[0].find('-'))).value();
  if (parts[0].ends_with("-weights")) options.aggregate = AggregateBy::kWeight;
  if (!has_edges(parts[0])) options.edge_features = EdgeFeatures::kNone;
  if (parts.size() == 5) {
    options.norm = value_named<NormKind>(parts[1]).value();
    options.residual = parts[2] == "residual";
    options.jk = value_named<JumpingKnowledge>(parts[3]).value();
    options.heads = std::stoi(parts[4]);
  }
  options.hidden_dim = 16;
  return options;
}

/// What a model of this kind takes: the plain data set, with what it reads of edges, or typed_dataset().
inline Dataset dataset_for(const std::string& variant, FeatureType type, Dataset plain) {
  if (is_typed(options_of_variant(variant).kind)) return typed_dataset(type);
  if (variant.ends_with("-weights")) return with_edge_weights(std::move(plain));
  return has_edges(variant) ? with_edge_features(std::move(plain), 3) : std::move(plain);
}

inline Dataset dataset_for(const std::string& variant, FeatureType type) {
  return dataset_for(variant, type, dataset_with_small_features(400, 6, 7, type));
}

/// Of a typed graph those of the target type.
inline std::vector<NodeId> every_target(const Dataset& dataset) {
  std::vector<NodeId> nodes = all_nodes(dataset);
  if (!dataset.types.is_typed()) return nodes;
  const auto first = nodes.begin() + dataset.first_target();
  return {first, first + static_cast<std::ptrdiff_t>(dataset.types.target().count)};
}

inline EntryParts entries_of(const Model& model) {
  return {.features = model.reads_edge_features(),
          .weights = model.reads_edge_weights(),
          .row_weights = model.reads_edge_weights() && model.reads_degrees()};
}

/// A model that has seen a few batches: norms have statistics of their own.
inline std::shared_ptr<Model> model_with_history(const std::string& variant, const Dataset& dataset) {
  ModelOptions options = options_of_variant(variant);
  options.num_classes = dataset.num_classes;
  const auto model = make_model(fitted_to(options, dataset));
  const at::NoGradGuard no_gradients;
  const SamplingRule rule{{3, 3, 3}};
  BatchLoader loader(dataset,
                     {.rule = rule, .degrees = degrees_for(model->reads_degrees()), .entries = entries_of(*model)});
  loader.start({{.key = {1, 0, 0}, .seeds = dataset.train.first(50)},
                {.key = {1, 0, 1}, .seeds = dataset.train.subspan(50, 50)}});
  while (const Batch* batch = loader.next()) {
    const BatchView view = view_of(*batch);
    (void)model->forward(view, {.seed = 1, .nodes = view.nodes});
  }
  return model;
}

struct Found {
  InferenceCounts counts{};
  at::Tensor logits{}, embeddings{};  ///< rows in the order of the nodes
};

/// Runs `infer(on_round)` and collects what it hands out on this rank.
template <class Infer>
Found collect(int layer, Infer&& infer) {
  Found found;
  std::vector<at::Tensor> logits, embeddings;
  found.counts = infer([&](const InferenceRound& round) {
    if (round.num_nodes == 0) return;
    logits.push_back(round.logits.cpu());
    if (layer > 0) embeddings.push_back(round.layers.at(static_cast<std::size_t>(layer)).dense().cpu().clone());
  });
  if (!logits.empty()) found.logits = at::cat(logits);
  if (!embeddings.empty()) found.embeddings = at::cat(embeddings);
  return found;
}

inline ComputeDevice on_the_cpu() { return ComputeDevice::choose(DeviceKind::kCpu, 0, 1); }

inline Found sampled_by(const SamplingRule& rule, Model& model, const Dataset& dataset, std::span<const NodeId> nodes,
                        int layer = 0, const ComputeDevice& device = on_the_cpu(), const ResidentView& data = {}) {
  const auto comm = make_self_communicator();
  LoaderPredictions predictions(dataset,
                                {.rule = rule,
                                 .degrees = degrees_for(model.reads_degrees()),
                                 .entries = entries_of(model),
                                 .to_device = device.is_cuda(),
                                 .data = data},
                                device);
  return collect(layer, [&](const OnRound& on_round) {
    return sampled_inference({model, device, *comm}, predictions, nodes, {.batch_size = 64}, on_round);
  });
}

inline Found sampled(Model& model, const Dataset& dataset, std::span<const NodeId> nodes, int fanout, int layer = 0,
                     const ComputeDevice& device = on_the_cpu(), const ResidentView& data = {}) {
  const std::vector<int> fanouts(static_cast<std::size_t>(model.num_layers()), fanout);
  return sampled_by({fanouts}, model, dataset, nodes, layer, device, data);
}

inline Found exact(Model& model, const Dataset& dataset, std::span<const NodeId> nodes, const ExactOptions& options,
                   const ComputeDevice& device = on_the_cpu()) {
  const auto comm = make_self_communicator();
  const ModelOnRanks ranks{model, device, *comm};
  const ExactPlan plan = plan_exact_inference(ranks, dataset, nodes, options);
  return collect(options.kept_layer,
                 [&](const OnRound& on_round) { return exact_inference(ranks, dataset, plan, options, on_round); });
}

}  // namespace salient::test
