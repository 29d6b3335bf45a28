// models/resident/step_program.h - a model's step as a list of launches, forward and backward, and what they work on.
//
// A model is a function that takes matrices from the program and adds its launches, build_stack() or build_sage_ri().
// The program owns the memory, and runs the launches forward in order and backward in the opposite one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/describe/layer_list.h"
#include "models/products/products.h"
#include "models/resident/batch_norm.h"
#include "models/resident/first_seen.h"
#include "models/resident/model_step.h"
#include "models/resident/neighbour_sum.h"
#include "models/resident/sampled_batches.h"
#include "models/resident/step_memory.h"
#include "models/resident/weight_blocks.h"

namespace salient {

/// One run of the launches: the batch's tree, and for how many rows of the last level (Levels::choices()).
struct StepRun {
  std::size_t tree, choice;
  cudaStream_t stream;
  cudaStream_t beside;  ///< of what nothing waits for but the step's end
};
using Launches = std::function<void(const StepRun&)>;

/// Some columns of a parameter as columns of a product's second factor; a bias is one column, times a column of ones.
struct WeightPart {
  std::string name;
  std::int64_t columns;
  std::int64_t packed_column;
  std::int64_t stride = 0;        ///< between the parameter's rows; 0 = columns
  std::int64_t first_column = 0;  ///< in the parameter
  std::string addend{};           ///< a parameter of the same shape that is added to it; "" = none
  std::int64_t packed_row = 0;
};

/// output = input * W^T. Backward: the parameters' gradients from output_gradient, beside the rest, and input_gradient
/// unless its data are not wanted.
struct LinearLayer {
  Matrix input, output, output_gradient;
  std::optional<Matrix> input_gradient{};
  std::int64_t out_dim;  ///< rows of the parameters
  std::vector<WeightPart> parts;
};

/// A product's second factor and its gradient, both with a row for each column of the output. Null while memory is
/// counted.
struct PackedWeight {
  Matrix value{};
  float* gradient = nullptr;
};

/// A sum over rows of the layer before, which it reads as dropout(relu(z)).
struct HiddenSum {
  std::size_t level;
  Matrix z, z_gradient;
  const std::byte* gradient;               ///< of the operand
  bool is_activated = false;               ///< rows are read as they are
  std::optional<std::uint32_t> dropout{};  ///< the mask's layer; none: no dropout
  RowAddend self{}, seeds{};               ///< AggregateBackward's
};

/// out = D(leaky_relu(norm(z))) + residual, see batch_norm.h.
struct NormPart {
  std::size_t level;
  std::int64_t columns;
  float slope;
  std::optional<std::uint32_t> dropout{};
  Matrix z, out, residual{};
  Matrix gradient, dz;     ///< of out, of z
  bool is_masked = false;  ///< see add_mapped_norm()
};

class StepProgram {
 public:
  /// @param data  null: memory is counted, nothing is allocated and no launch may run
  StepProgram(const ModelStepShape& shape, const ModelStepData* data);
  StepProgram(const StepProgram&) = delete;
  StepProgram& operator=(const StepProgram&) = delete;

  // ---- for models ----
  const ModelStepShape& shape() const { return shape_; }
  const LayerList& list() const { return list_; }  ///< of the model
  std::size_t num_layers() const { return shape_.rule.fanouts.size(); }
  std::size_t level_of(std::size_t layer) const { return num_layers() - 1 - layer; }  ///< whose nodes it computes
  const Levels& levels() const { return levels_; }
  const SampledTree& tree(const StepRun& run) const { return batches_->tree(run.tree); }
  StepMemory& memory() { return memory_; }

  bool reads_edges() const { return shape_.model.edge_dim > 0; }  ///< their features
  bool is_training() const { return shape_.use == StepUse::kTraining; }
  Matrix matrix(RowCount height, std::int64_t width);
  Matrix gradient(RowCount height, std::int64_t width);  ///< the same without memory in a prediction
  /// For what add_ahead() writes: in training two, of batches in turn.
  Matrix matrix_ahead(RowCount height, std::int64_t width);
  Matrix logits();  ///< [max_seeds, padded(num_classes)] f32; the loss reads the last one made
  Matrix logits_gradient() const { return logits_gradient_; }

  void add(Launches forward, Launches backward);  ///< a prediction has the first
  /// Of features and the batch alone: training does it beside the step before. Before all that add() has.
  void add_ahead(Launches launches) { ahead_.push_back(std::move(launches)); }
  void add_last(Launches launches);  ///< behind the gradients of all products
  /// Of parameters alone: on StepRun::beside from the step's beginning. What reads the result follows that stream.
  void add_early(Launches launches) { early_.push_back(std::move(launches)); }
  PackedWeight add(const LinearLayer& layer);
  /// Of features, which have no gradient, ahead. @param operand, own_rows  by matrix_ahead(), for those of `sum`
  void add_first_sum(const NeighbourSum& sum, const Matrix& operand, const Matrix& own_rows = {});
  /// @param operand  for those of `sum`
  void add_hidden_sum(const NeighbourSum& sum, const Matrix& operand, const HiddenSum& hidden);
  /// Means of the features of edges, ahead, in the operand's columns from `first` on. @param operand  by matrix_ahead()
  void add_edge_means(std::size_t level, const Matrix& operand, std::int64_t first);
  std::function<LevelRows(const StepRun&)> hidden_rows(const HiddenSum& hidden);  ///< with room for LevelRows::kept
  void add_norm(const std::string& name, const NormPart& part);
  /// Whether the norm of a map of features, from `in` columns with one of ones to `out`, is computed from moments.
  bool has_moments(std::int64_t in, std::int64_t out) const;
  /// A map of features by matrix_ahead(), with ones in a column, and its norm. Only with has_moments().
  /// @return  what writes `part.gradient` may write, with NormPart::is_masked has to
  std::function<MaskedRows(const StepRun&)> add_mapped_norm(const LinearLayer& map, std::int64_t ones,
                                                            const std::string& name, const NormPart& part);

  /// The value and the gradient of a parameter or buffer; null while memory is counted.
  /// @throws Error{kInternal} for a name that the model does not have
  StepTensor tensor(const std::string& name) const;
  const float* value(const std::string& name) const { return static_cast<const float*>(tensor(name).value); }

  TreeDropout dropout(std::uint32_t layer) const;  ///< without a header, which of() gives it
  TreeDropout no_dropout() const { return {nullptr, 0, 0, 1.0f}; }
  TreeDropout of(const StepRun& run, TreeDropout dropout) const;
  NeighbourSum of(const StepRun& run, NeighbourSum sum) const;  ///< with its dropouts' headers
  SumRule sum_rule(SumKind kind, const float* eps);
  NeighbourSum sum_with_ones(const SumRule& rule, const Matrix& operand) const;  ///< the operand of a layer with a bias
  const FirstSeen& first_seen(const StepRun& run) const { return first_seen_[run.tree % first_seen_.size()]; }
  void find_first_seen();  ///< ahead; more calls do nothing

  TableRows table_rows(const StepRun& run) const;
  const FeatureRows& features() const { return data_->inputs.features; }
  TreeGrowth growth(std::size_t level, const StepRun& run) const;
  LevelRows level_rows(std::size_t level, const Matrix& z, const StepRun& run) const;  ///< read as they are

  // ---- for the step ----
  std::int64_t bytes() const;
  SampledBatches& batches() { return *batches_; }
  const SampledBatches& batches() const { return *batches_; }
  const float* logits_rows() const { return logits_.as<const float>(); }
  void finish();  ///< behind the model; blocks
  /// Whether what is ahead of a step is done beside the one before, and not by enqueue().
  bool prepares_ahead() const { return is_training() && !ahead_.empty(); }
  void enqueue_ahead(std::size_t tree, cudaStream_t stream) const;
  /// All of a step that is left behind sampling.
  /// @param fork  called when the largest products have been enqueued, with run.stream: later launches leave room for
  ///              others, which may begin there and are the caller's to wait for
  void enqueue(const StepRun& run, const std::function<void(cudaStream_t)>& fork) const;
  bool has_update() const { return is_training() && data_->update.has_value(); }

 private:
  void add_weights(const LinearLayer& layer, const Matrix& weight, const float* gradient);
  Product plan(const LinearLayer& layer, ProductKind kind, std::int64_t rows, const Matrix& weight,
               const float* weight_gradient);
  BatchNormTensors norm_tensors(const std::string& name) const;
  std::function<NormLayer(const StepRun&)> norm_of(const std::string& name, const NormPart& part);
  void enqueue_loss(const StepRun& run) const;
  SamplingLead lead() const { return prepares_ahead() ? SamplingLead::kThreeBatches : SamplingLead::kOneBatch; }

  const ModelStepShape shape_;
  const LayerList list_;
  const ModelStepData* const data_;
  Levels levels_;
  StepMemory memory_;
  std::optional<SampledBatches> batches_;
  std::optional<Products> products_, products_beside_;
  WeightBlocks weights_;
  std::vector<FirstSeen> first_seen_;  // of batches in turn
  const NodeFactor* factors_ = nullptr;
  Matrix logits_, logits_gradient_;
  float* seed_losses_ = nullptr;
  std::vector<Launches> ahead_, early_, forward_, backward_, last_;
  std::size_t num_before_fork_ = 0;  // of forward_, up to the last product over all nodes
};

void build_stack(StepProgram& program);
void build_sage_ri(StepProgram& program);

}  // namespace salient
