// models/resident/convolutions.h - parts of a step program that stacks of convolutions consist of: build_stack() puts
// them together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/describe/stack.h"
#include "models/resident/attention_v2.h"
#include "models/resident/step_program.h"

namespace salient {

/// A matrix and its gradient.
struct Values {
  Matrix value, gradient;
};
Values values_of(StepProgram& program, RowCount height, std::int64_t width);

/// What a layer reads of the one before: rows of the grown level.
struct StackInput {
  Values rows;                             ///< z, read as D(relu(z)), where layers pass that on; else as they are
  std::optional<std::uint32_t> dropout{};  ///< of z
  Matrix by_own{};                         ///< the part of the gradient from StackLayer::maps_own_rows()
  RowAddend residual{}, jumping{};         ///< more of it, unless z is read: of the level's nodes, of the seeds
};

/// The convolution of a layer, and where it is.
struct Convolution {
  std::size_t index, level;
  StackLayer layer;
  bool passes_z;                      ///< Stack::passes_z()
  std::optional<StackInput> input{};  ///< none: features
  Values z{};                         ///< where its result goes
  Matrix z_by_own{};                  ///< where z is passed on, as StackInput::by_own of the next layer
  bool wants_own_features = false;    ///< of the first layer

  /// The residual connection is a part of the convolution: a map of the rows themselves, as one of its own maps is.
  bool has_residual_within() const { return layer.is_joined && layer.residual.has_value(); }
  /// The kernel of gatv2 with one head has ReLU and dropout, and the result a column of ones behind it.
  bool is_activated() const { return passes_z && layer.is_hidden && layer.maps_entries(); }
};

/// The launches of a convolution, forward and backward down to the gradient of its input.
/// @return  (x | 1) of the level's nodes in the feature table, if they are wanted; batches may have them in turns
Matrix add_convolution(StepProgram& program, const Convolution& convolution);
Matrix add_sum_convolution(StepProgram& program, const Convolution& convolution);
Matrix add_gat_convolution(StepProgram& program, const Convolution& convolution);
Matrix add_entry_attention(StepProgram& program, const Convolution& convolution);

/// output = input * W^T + b of each map, side by side in padded columns. All have as many.
/// @param input_gradient  none: not wanted
LinearLayer linear_of(std::span<const LinearMap> maps, const Matrix& input, std::optional<Matrix> input_gradient,
                      const Values& output);
void add_maps(StepProgram& program, std::span<const LinearMap> maps, const Matrix& input,
              std::optional<Matrix> input_gradient, const Values& output);
void add_map(StepProgram& program, const LinearMap& map, const Matrix& input, std::optional<Matrix> input_gradient,
             const Values& output);

/// Adds what else uses them to the gradient of a convolution's input, which its kernels wrote. Backward.
void add_to_input_gradient(const StepProgram& program, const Convolution& convolution, const StepRun& run);

/// out = D(relu(norm(z + addend))), with a column of ones behind it if out is wider.
struct HiddenRows {
  std::size_t level;
  Normalise norm{.kind = NormKind::kNone};
  std::optional<Matrix> addend{};  ///< its gradient is that of z
  std::optional<std::uint32_t> dropout{};
  Values z, out;
};
void add_hidden_rows(StepProgram& program, const HiddenRows& hidden);

/// A map of rows, whose values and gradients go to hidden.z, and what is behind it, a batch norm.
/// @param ones  the input's column of ones, if they are features; none: they are not
void add_normed_map(StepProgram& program, const LinearLayer& map, std::optional<std::int64_t> ones,
                    const HiddenRows& hidden);

/// The entries of a level's nodes, and (x | 1) of the last level's nodes.
EntryRows entry_rows(const StepProgram& program, std::size_t level, const StepRun& run);
Matrix add_own_features(StepProgram& program);

}  // namespace salient
