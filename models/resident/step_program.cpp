// models/resident/step_program.cpp - see step_program.h.
#include "models/resident/step_program.h"

#include <memory>
#include <utility>

#include "core/error.h"
#include "models/kernels/dropout.h"
#include "models/resident/edge_means.h"
#include "models/resident/loss.h"
#include "models/resident/urgent_stream.h"

namespace salient {

StepProgram::StepProgram(const ModelStepShape& shape, const ModelStepData* data)
    : shape_(shape),
      list_(describe(shape.model)),
      data_(data),
      levels_(shape.rule.fanouts, shape.max_seeds, shape.has_size_choice),
      memory_(data == nullptr ? StepMemory::Use::kCount : StepMemory::Use::kAllocate),
      seed_losses_(memory_.array<float>(2 * shape.max_seeds)) {
  if (data == nullptr) return;
  products_.emplace();
  if (is_training()) products_beside_.emplace();
}

Matrix StepProgram::matrix(RowCount height, std::int64_t width) {
  require(width % 8 == 0, "a matrix has a multiple of 8 columns");
  const auto size = static_cast<std::int64_t>(size_of(shape_.activations));
  return {memory_.allocate(levels_.capacity(height) * width * size), width, height, shape_.activations};
}

Matrix StepProgram::gradient(RowCount height, std::int64_t width) {
  return is_training() ? matrix(height, width) : Matrix{nullptr, width, height, shape_.activations};
}

Matrix StepProgram::matrix_ahead(RowCount height, std::int64_t width) {
  if (!is_training()) return matrix(height, width);
  constexpr std::int64_t kAlignment = 256;  // of what products read
  const auto size = static_cast<std::int64_t>(size_of(shape_.activations));
  const std::int64_t turn = (levels_.capacity(height) * width * size + kAlignment - 1) / kAlignment * kAlignment;
  return {memory_.allocate(2 * turn), width, height, shape_.activations, turn};
}

Matrix StepProgram::logits() {
  const std::int64_t width = padded(shape_.model.num_classes);
  logits_ = {memory_.allocate(shape_.max_seeds * width * 4), width, {0}, ActivationType::kF32};
  logits_gradient_ = gradient({0}, width);
  return logits_;
}

void StepProgram::add(Launches forward, Launches backward) {
  forward_.push_back(std::move(forward));
  if (is_training()) backward_.push_back(std::move(backward));
}

void StepProgram::add_last(Launches launches) {
  if (is_training()) last_.push_back(std::move(launches));
}

Product StepProgram::plan(const LinearLayer& layer, ProductKind kind, std::int64_t rows, const Matrix& weight,
                          const float* weight_gradient) {
  const ActivationType result = kind == ProductKind::kForward          ? layer.output.type
                                : kind == ProductKind::kWeightGradient ? ActivationType::kF32
                                                                       : shape_.activations;
  const auto matrices = [&]() -> ProductMatrices {
    switch (kind) {
      case ProductKind::kForward: return {layer.input.data, weight.data, layer.output.data};
      case ProductKind::kInputGradient: return {layer.output_gradient.data, weight.data, layer.input_gradient->data};
      case ProductKind::kWeightGradient:
        return {layer.output_gradient.data, layer.input.data, const_cast<float*>(weight_gradient)};
    }
    return {};
  };
  const CudaStream stream;
  Product product(kind == ProductKind::kWeightGradient ? *products_beside_ : *products_,
                  {kind, rows, layer.input.width, layer.output.width, shape_.activations, result, shape_.may_use_tf32},
                  matrices(), shape_.is_deterministic, stream.get());
  stream.wait();
  return product;
}

void StepProgram::add_weights(const LinearLayer& layer, const Matrix& weight, const float* gradient) {
  const auto row_bytes = layer.input.width * static_cast<std::int64_t>(size_of(weight.type));
  for (const WeightPart& part : layer.parts) {
    const auto value_of = [&](const StepTensor& tensor) {
      return static_cast<const float*>(tensor.value) + part.first_column;
    };
    const auto gradient_of = [&](const StepTensor& tensor) {
      return is_training() ? tensor.gradient + part.first_column : nullptr;
    };
    const StepTensor parameter = tensor(part.name);
    WeightBlock block{value_of(parameter),
                      gradient_of(parameter),
                      part.stride == 0 ? part.columns : part.stride,
                      layer.out_dim,
                      part.columns,
                      weight.data + part.packed_row * row_bytes,
                      gradient == nullptr ? nullptr : gradient + part.packed_row * layer.input.width,
                      layer.input.width,
                      part.packed_column};
    if (!part.addend.empty()) {
      const StepTensor addend = tensor(part.addend);
      block.addend = value_of(addend);
      block.addend_gradient = gradient_of(addend);
    }
    weights_.add(block);
  }
}

PackedWeight StepProgram::add(const LinearLayer& layer) {
  const std::int64_t in = layer.input.width, out = layer.output.width;
  const auto size = static_cast<std::int64_t>(size_of(shape_.activations));
  const Matrix weight{memory_.allocate(out * in * size), in, {}, shape_.activations};
  float* const gradient = is_training() ? memory_.array<float>(out * in) : nullptr;
  if (memory_.is_counting()) return {};
  add_weights(layer, weight, gradient);
  struct OfChoice {
    Product forward;
    std::optional<Product> weight, input;
  };
  const auto products = std::make_shared<std::vector<OfChoice>>();
  const bool has_choice = layer.output.height.level == levels_.last();
  cuda_check(cudaDeviceSynchronize());  // matrices are cleared on another stream
  for (std::size_t choice = 0; choice < (has_choice ? levels_.choices().size() : 1); ++choice) {
    const std::int64_t rows = levels_.rows(layer.output.height, choice);
    const auto of = [&](ProductKind kind) { return plan(layer, kind, rows, weight, gradient); };
    products->push_back({of(ProductKind::kForward), {}, {}});
    if (is_training()) products->back().weight.emplace(of(ProductKind::kWeightGradient));
    if (is_training() && layer.input_gradient) products->back().input.emplace(of(ProductKind::kInputGradient));
  }
  const auto at = [products, has_choice](const StepRun& run) -> const OfChoice& {
    return (*products)[has_choice ? run.choice : 0];
  };
  if (has_choice) num_before_fork_ = forward_.size() + 1;
  add(
      [=](const StepRun& run) {
        at(run).forward.run_on({layer.input.of(run.tree).data, weight.data, layer.output.data}, run.stream);
      },
      [=](const StepRun& run) {
        follow(run.beside, run.stream);
        at(run).weight->run_on({layer.output_gradient.data, layer.input.of(run.tree).data, gradient}, run.beside);
        if (at(run).input) at(run).input->run(run.stream);
      });
  return {weight, gradient};
}

void StepProgram::add_first_sum(const NeighbourSum& sum, const Matrix& operand, const Matrix& own_rows) {
  add_ahead([=, this](const StepRun& run) {
    NeighbourSum mine = of(run, sum);
    mine.operand = operand.of(run.tree).data;
    if (own_rows.data != nullptr) mine.own_rows = own_rows.of(run.tree).data;
    TableRows rows = table_rows(run);
    rows.behind = RowsBehind::kAsTheyWere;  // their gradients are zeros, and what an earlier batch left are numbers
    neighbour_sum(mine, rows, run.stream);
  });
}

std::function<LevelRows(const StepRun&)> StepProgram::hidden_rows(const HiddenSum& hidden) {
  if (hidden.is_activated) return [=, this](const StepRun& run) { return level_rows(hidden.level, hidden.z, run); };
  const RowCount grown{hidden.level + 1};
  auto* const kept = memory_.array<std::uint8_t>(levels_.capacity(grown) * hidden.z.width / 8);
  const TreeDropout mask = hidden.dropout ? dropout(*hidden.dropout) : no_dropout();
  return [=, this](const StepRun& run) {
    return LevelRows{growth(hidden.level, run),
                     tree(run).nodes(),
                     hidden.z.data,
                     hidden.z.width,
                     hidden.z.type,
                     kept,
                     of(run, mask)};
  };
}

void StepProgram::add_edge_means(std::size_t level, const Matrix& operand, std::int64_t first) {
  const bool is_last = level == levels_.last();  // rows behind its end: as add_first_sum() has them
  add_ahead([=, this](const StepRun& run) {
    PlacedEntries entries = tree(run).placed_entries(level);
    entries.capacity = levels_.rows({level}, run.choice);
    edge_means(entries, data_->inputs.edge_features, is_last ? RowsBehind::kAsTheyWere : RowsBehind::kZeros,
               {operand.of(run.tree).data, operand.width, first, operand.type}, run.stream);
  });
}

void StepProgram::add_hidden_sum(const NeighbourSum& sum, const Matrix& operand, const HiddenSum& hidden) {
  const auto rows = hidden_rows(hidden);
  add(
      [=, this](const StepRun& run) {
        NeighbourSum mine = of(run, sum);
        mine.operand = operand.of(run.tree).data;
        neighbour_sum(mine, rows(run), run.stream);
      },
      [=, this](const StepRun& run) {
        const AggregateBackward spread{hidden.gradient, hidden.z_gradient.data, hidden.self, hidden.seeds,
                                       tree(run).header()};
        aggregate_backward(of(run, sum), rows(run), spread, run.stream);
      });
}

StepTensor StepProgram::tensor(const std::string& name) const {
  if (data_ == nullptr) return {};
  const auto found = data_->tensors.find(name);
  require(found != data_->tensors.end(), ("the model has a tensor " + name).c_str());
  return found->second;
}

TreeDropout StepProgram::dropout(std::uint32_t layer) const {
  if (shape_.model.dropout == 0 || !is_training()) return no_dropout();
  const DropoutMask mask = DropoutMask::make(shape_.model.dropout, 0, 0, layer);  // seed and step are the header's
  return {nullptr, layer, mask.threshold, mask.threshold == 0 ? 1.0f : mask.scale};
}

TreeDropout StepProgram::of(const StepRun& run, TreeDropout dropout) const {
  dropout.header = tree(run).header();
  return dropout;
}

NeighbourSum StepProgram::of(const StepRun& run, NeighbourSum sum) const {
  for (TreeDropout* const dropout : {&sum.input, &sum.neighbours, &sum.self}) *dropout = of(run, *dropout);
  return sum;
}

SumRule StepProgram::sum_rule(SumKind kind, const float* eps) {
  if (kind == SumKind::kSymmetric && factors_ == nullptr) {
    auto* const factors = memory_.array<NodeFactor>(static_cast<std::int64_t>(shape_.num_nodes));
    if (data_ != nullptr) find_node_factors(data_->inputs.graph, factors, nullptr);
    factors_ = factors;
  }
  return {kind, data_ != nullptr ? data_->inputs.graph : DeviceCsr{}, factors_, eps};
}

NeighbourSum StepProgram::sum_with_ones(const SumRule& rule, const Matrix& operand) const {
  return {.rule = rule,
          .input = no_dropout(),
          .neighbours = no_dropout(),
          .self = no_dropout(),
          .has_own_part = false,
          .has_ones = true,
          .width = operand.width,
          .num_others = 0,
          .type = operand.type,
          .operand = operand.data,
          .own_rows = nullptr,
          .drawn = nullptr};
}

void StepProgram::find_first_seen() {
  if (!first_seen_.empty()) return;
  for (int turn = 0; turn < 2; ++turn) first_seen_.emplace_back(memory_, levels_);
  add_ahead([this](const StepRun& run) { first_seen(run).find(tree(run), run.stream); });
}

TableRows StepProgram::table_rows(const StepRun& run) const {
  TableRows rows{tree(run).last_hop(), data_->inputs.features};
  rows.hop.capacity = levels_.choices()[run.choice];
  return rows;
}

TreeGrowth StepProgram::growth(std::size_t level, const StepRun& run) const {
  TreeGrowth growth = tree(run).growth(level);
  growth.grown_capacity = levels_.rows({level + 1}, run.choice);
  return growth;
}

LevelRows StepProgram::level_rows(std::size_t level, const Matrix& z, const StepRun& run) const {
  return {growth(level, run), tree(run).nodes(), z.data, z.width, z.type, nullptr, no_dropout()};
}

std::int64_t StepProgram::bytes() const {
  const std::int64_t workspaces_and_graphs = std::int64_t{164} << 20;
  const std::int64_t fanout = shape_.rule.fanouts.back(), of_places = reads_edges() ? 8 * (1 + fanout) : 0;
  const std::int64_t of_tree = levels_.capacity({levels_.last()}) * (16 + 4 * fanout + of_places);
  return memory_.bytes() + static_cast<std::int64_t>(SampledBatches::num_trees(lead())) * of_tree +
         workspaces_and_graphs;
}

void StepProgram::finish() {
  batches_.emplace(data_->inputs.graph, shape_.rule, shape_.max_seeds, lead(),
                   reads_edges() ? Places::kKept : Places::kNotKept, data_->inputs.links);
  weights_.finish();
  cuda_check(cudaDeviceSynchronize());
}

void StepProgram::enqueue_loss(const StepRun& run) const {
  const SeedLoss loss{.header = tree(run).header(),
                      .nodes = tree(run).nodes(),
                      .targets = data_->targets,
                      .max_seeds = shape_.max_seeds,
                      .num_classes = shape_.model.num_classes,
                      .label_smoothing = static_cast<float>(shape_.label_smoothing),
                      .type = shape_.activations,
                      .rows = seed_losses_,
                      .sums = data_->sums};
  seed_loss(loss, logits_.as<const float>(), logits_gradient_.data, run.stream);
  follow(run.beside, run.stream);
  sum_losses(loss, run.beside);
}

void StepProgram::enqueue_ahead(std::size_t tree, cudaStream_t stream) const {
  const StepRun run{tree, levels_.choices().size() - 1, stream, stream};
  for (const Launches& launches : ahead_) launches(run);
}

void StepProgram::enqueue(const StepRun& run, const std::function<void(cudaStream_t)>& fork) const {
  if (!early_.empty()) follow(run.beside, run.stream);
  for (const Launches& launches : early_) launches(run);
  weights_.pack(shape_.activations, run.stream);
  if (!prepares_ahead())
    for (const Launches& launches : ahead_) launches(run);
  for (std::size_t i = 0; i < forward_.size(); ++i) {
    if (i == num_before_fork_) fork(run.stream);
    forward_[i](run);
  }
  if (num_before_fork_ >= forward_.size()) fork(run.stream);
  if (!is_training()) return;
  enqueue_loss(run);
  for (auto launches = backward_.rbegin(); launches != backward_.rend(); ++launches) (*launches)(run);
  follow(run.stream, run.beside);
  weights_.unpack_gradients(run.stream);
  for (const Launches& launches : last_) launches(run);
  if (has_update()) update_parameters(*data_->update, tree(run).header(), run.stream);
}

}  // namespace salient
