// engine/infer/exact_inference.cpp - see exact_inference.h.
#include "engine/infer/exact_inference.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/console/progress.h"
#include "core/timer.h"
#include "engine/infer/target_unit.h"
#include "engine/remote/partitioned_batches.h"
#include "loaders/gather_rows.h"
#include "loaders/gather_sparse_rows.h"
#include "models/batch_view.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/seed_order.h"

namespace salient {
namespace {

SparseRows sparse_features_of(const Dataset& dataset, std::span<const NodeId> nodes, at::ScalarType type) {
  SparseRows rows{.num_rows = static_cast<std::int64_t>(nodes.size()), .num_columns = dataset.feature_dim};
  rows.begin = at::empty({rows.num_rows + 1}, at::kInt);
  auto* const begin = rows.begin.mutable_data_ptr<LocalId>();
  const LocalId num_values = begin_of_rows(dataset.sparse_features, nodes.data(), nodes.size(), begin);
  rows.columns = at::empty({num_values}, at::kInt);
  rows.values = at::empty({num_values}, type);
  gather_sparse_rows(dataset.sparse_features, nodes.data(), nodes.size(),
                     {.begin = begin,
                      .columns = rows.columns.mutable_data_ptr<LocalId>(),
                      .values = static_cast<std::byte*>(rows.values.mutable_data_ptr()),
                      .value_bytes = size_of(dataset.feature_type)});
  return rows;
}

/// Feature rows of `nodes`, as batches have them.
InputRows features_of(const Dataset& dataset, std::span<const NodeId> nodes, const ComputeDevice& device) {
  const at::ScalarType type = gathered_type(dataset.feature_type) == FeatureType::kF16 ? at::kHalf : at::kFloat;
  if (dataset.has_sparse_features()) {
    SparseRows rows = sparse_features_of(dataset, nodes, type);
    for (at::Tensor* part : {&rows.begin, &rows.columns, &rows.values}) *part = part->to(device.torch_device());
    return rows;
  }
  const at::Tensor rows = at::empty({static_cast<std::int64_t>(nodes.size()), dataset.feature_dim}, type);
  gather_features(dataset.features, nodes.data(), nodes.size(), static_cast<std::byte*>(rows.mutable_data_ptr()));
  return rows.to(device.torch_device());
}

/// One layer's blocks of this rank. All ranks have the same number; the last one may be empty.
std::vector<BatchRequest> requests_of_rank(std::span<const NodeId> nodes, std::span<const RowBlock> blocks,
                                           const Communicator& comm) {
  const auto num_ranks = static_cast<std::size_t>(comm.size()), rank = static_cast<std::size_t>(comm.rank());
  std::vector<BatchRequest> requests;
  for (std::size_t round = 0; round < num_global_batches(blocks.size(), num_ranks); ++round) {
    const std::size_t b = round * num_ranks + rank;
    const RowBlock block = b < blocks.size() ? blocks[b] : RowBlock{};
    requests.push_back(
        {.key = {.batch = static_cast<std::uint32_t>(b)}, .seeds = nodes.subspan(block.begin, block.count)});
  }
  return requests;
}

/// Carries out one plan.
class LayerByLayer {
 public:
  LayerByLayer(const ModelOnRanks& ranks, const Dataset& dataset, const ExactPlan& plan, const ExactOptions& options,
               const OnRound& on_round)
      : model_(ranks.model),
        device_(ranks.device),
        comm_(ranks.comm),
        dataset_(dataset),
        plan_(plan),
        options_(options),
        on_round_(on_round),
        counter_(device_.torch_device()),
        unit_(dataset, device_.torch_device()),
        results_(plan.layers.size()) {}

  InferenceCounts run() {
    for (std::size_t i = 0; i < plan_.layers.size(); ++i) {
      const bool is_last = i + 1 == plan_.layers.size();
      if (!is_last)
        results_[i] = make_activations({.rows = plan_.needed.num_after[i],
                                        .width = plan_.layers[i].width,
                                        .storage = plan_.storage,
                                        .type = plan_.type,
                                        .scratch = options_.scratch},
                                       device_, comm_, options_.launch);
      compute(i);
      if (!is_last) results_[i]->complete(plan_.layers[i].blocks);
      if (i > 0 && !plan_.layers[i - 1].is_kept) results_[i - 1].reset();
    }
    return counter_.sum_over_ranks(comm_);
  }

 private:
  /// The data set as layer i sees it: the same graph, the rows of the layer before. Of a typed graph labels are for the
  /// last one alone, as the nodes of others are of all types.
  Dataset input_of(std::size_t i) const {
    Dataset input = dataset_;
    if (plan_.has_input && i + 1 < plan_.layers.size()) {
      input.task = Task::kRegression;  // of no values
      input.num_classes = 0;
    }
    if (i == 0) return input;
    for (NodeType& type : input.types.node_types) type.features.dim = 0;
    input.features = results_[i - 1]->table();
    input.feature_dim = static_cast<int>(plan_.layers[i - 1].width);
    input.feature_type = feature_type_of(plan_.type);
    input.feature_layout = FeatureLayout::kDense;
    return input;
  }

  /// One hop with all entries of layer i; the model's input() reads nodes without any.
  SamplingRule rule_of(std::size_t i) const {
    SamplingRule all{.fanouts = {kAllNeighbors}};
    if (!plan_.has_input) return all;
    const int layer = plan_.model_layer(i);
    for (std::size_t r = 0; r < dataset_.types.relations.size(); ++r) {
      const bool is_out =
          layer < 0 || (!options_.rule.fanouts.empty() && options_.rule.fanout_of(r, plan_.layers.size() - 1 - i) == 0);
      all.relation_fanouts.push_back({is_out ? 0 : kAllNeighbors});
    }
    return all;
  }

  LoaderOptions loading_of(std::size_t i, const Dataset& input) const {
    LoaderOptions loading{.rule = rule_of(i),
                          .degrees = degrees_for(model_.reads_degrees()),
                          .entries = {.features = model_.reads_edge_features(),
                                      .weights = model_.reads_edge_weights(),
                                      .row_weights = model_.reads_edge_weights() && model_.reads_degrees()},
                          .num_workers = options_.workers,
                          .num_slots = plan_.slots,
                          .to_device = device_.is_cuda()};
    if (i == 0) {
      loading.data = options_.data;
      loading.data.graph = nullptr;
    }
    if (i == 0) return loading;
    loading.row_of = plan_.needed.row_of;
    loading.has_paged_rows = results_[i - 1]->has_paged_table();
    if (plan_.storage == ActivationStorage::kDevice)
      loading.data = {.features = Residency::kDevice, .device_rows = input.features};
    return loading;
  }

  /// Of a block. @return  [its nodes, width]
  at::Tensor result_of(std::size_t i, const BatchView& view) const {
    const int layer = plan_.model_layer(i);
    if (layer < 0) return model_.input(view, {}).dense();
    return model_.layer(layer, view.hops[0], plan_.has_input ? view.x.dense().to(at::kFloat) : view.x, {});
  }

  void compute(std::size_t i) {
    const bool is_last = i + 1 == plan_.layers.size();
    const std::span<const RowBlock> blocks = plan_.layers[i].blocks;
    const Dataset input = input_of(i);
    const std::unique_ptr<BatchSource> loader = make_batches(input, loading_of(i, input), comm_);
    Progress progress(plan_.name_of_layer(i) + " of " + std::to_string(model_.num_layers()),
                      plan_.needed.num_after[i] / static_cast<std::size_t>(comm_.size()), "nodes");
    loader->start(requests_of_rank(plan_.needed.after(i), blocks, comm_));
    while (const Batch* batch = loader->next(device_.stream())) {
      InferenceRound round{.num_nodes = is_last ? batch->layout.num_seeds : 0};
      if (batch->layout.num_seeds > 0) {
        const BatchView view = view_of(*batch, device_.torch_device().index());
        const at::Tensor out = result_of(i, view);
        const RowBlock& block = blocks[batch->key.batch];
        if (is_last)
          finish(block, view, out, round);
        else
          results_[i]->put(block.begin, out);
      }
      if (on_round_) on_round_(round);
      progress.add(static_cast<std::uint64_t>(batch->layout.num_seeds));
    }
  }

  /// The head of the model on a block of the last layer.
  void finish(const RowBlock& block, const BatchView& view, const at::Tensor& out, InferenceRound& round) {
    const std::size_t last = plan_.layers.size() - 1;
    const auto place = [&](std::size_t i) { return static_cast<std::size_t>(plan_.model_layer(i) + 1); };
    round.layers.resize(place(last) + 1);
    if (model_.head_reads_all_layers() && !plan_.has_input)
      round.layers[0] = features_of(dataset_, plan_.needed.after(last).subspan(block.begin, block.count), device_);
    for (std::size_t i = 0; i < last; ++i)
      if (plan_.layers[i].is_kept) round.layers[place(i)] = results_[i]->rows(block.begin, block.count);
    round.layers[place(last)] = out;
    round.logits = unit_.of(model_.head(round.layers, {}));
    counter_.add(round.logits, view.y);
  }

  Model& model_;
  const ComputeDevice& device_;
  Communicator& comm_;
  const Dataset& dataset_;
  const ExactPlan& plan_;
  const ExactOptions& options_;
  const OnRound& on_round_;
  AccuracyCounter counter_;
  const TargetUnit unit_;
  std::vector<std::unique_ptr<Activations>> results_;  // [L], of the last layer none
};

}  // namespace

InferenceCounts exact_inference(const ModelOnRanks& ranks, const Dataset& dataset, const ExactPlan& plan,
                                const ExactOptions& options, const OnRound& on_round) {
  const at::NoGradGuard no_gradients;
  const Timer timer;
  ranks.model.eval();
  InferenceCounts counts = LayerByLayer(ranks, dataset, plan, options, on_round).run();
  counts.seconds = timer.seconds();
  return counts;
}

}  // namespace salient
