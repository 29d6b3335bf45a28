// models/resident/stack_step.cpp - models/conv_stack.h as a step: convolutions, and what is around them.
//
//   h --- convolution --> z;  z, h --- + residual, norm, relu, dropout --> rows of the next layer
//   seeds' rows of all layers, or of the last --- side by side, or their maximum --> --- head --> logits
//
// Of a plain stack the next layer reads z, and computes ReLU and dropout as it does: its rows are written once; see
// Stack::passes_z().
#include <algorithm>
#include <utility>

#include "core/error.h"
#include "models/resident/combined_rows.h"
#include "models/resident/convolutions.h"

namespace salient {

Values values_of(StepProgram& program, RowCount height, std::int64_t width) {
  return {program.matrix(height, width), program.gradient(height, width)};
}

LinearLayer linear_of(std::span<const LinearMap> maps, const Matrix& input, std::optional<Matrix> input_gradient,
                      const Values& output) {
  std::vector<WeightPart> parts;
  std::int64_t row = 0;
  for (const LinearMap& map : maps) {
    parts.push_back({.name = map.weight, .columns = map.in, .packed_column = 0, .packed_row = row});
    if (!map.bias.empty())
      parts.push_back({.name = map.bias, .columns = 1, .packed_column = map.in, .packed_row = row});
    row += padded(map.out);
  }
  return {.input = input,
          .output = output.value,
          .output_gradient = output.gradient,
          .input_gradient = std::move(input_gradient),
          .out_dim = maps.front().out,
          .parts = std::move(parts)};
}

void add_maps(StepProgram& program, std::span<const LinearMap> maps, const Matrix& input,
              std::optional<Matrix> input_gradient, const Values& output) {
  program.add(linear_of(maps, input, std::move(input_gradient), output));
}

void add_map(StepProgram& program, const LinearMap& map, const Matrix& input, std::optional<Matrix> input_gradient,
             const Values& output) {
  add_maps(program, {&map, 1}, input, std::move(input_gradient), output);
}

void add_to_input_gradient(const StepProgram& program, const Convolution& c, const StepRun& run) {
  const auto add = [&](const RowAddend& addend, std::size_t level) {
    if (addend.rows == nullptr) return;
    add_rows(c.input->rows.gradient, c.layer.in, addend, program.tree(run).size_of(level),
             program.levels().rows({level}, run.choice), run.stream);
  };
  add({c.input->by_own.data, c.input->by_own.width}, c.level);
  add(c.input->residual, c.level);
  add(c.input->jumping, 0);
}

Matrix add_convolution(StepProgram& program, const Convolution& c) {
  if (!c.layer.attention) return add_sum_convolution(program, c);
  return c.layer.maps_entries() ? add_entry_attention(program, c) : add_gat_convolution(program, c);
}

namespace {

class Builder {
 public:
  explicit Builder(StepProgram& program)
      : program_(program), stack_(stack_of(program.list())), passes_z_(stack_.passes_z()) {
    if (!stack_.jumping) return;
    const std::int64_t width = stack_.layers.back().out * static_cast<std::int64_t>(stack_.layers.size());
    joined_ = stack_.jumping == CombineKind::kConcat ? values_of(program_, {0}, padded(width + 1))
                                                     : Values{.value = {}, .gradient = program_.gradient({0}, width)};
  }

  void build() {
    std::optional<StackInput> rows;
    for (std::size_t i = 0; i < stack_.layers.size(); ++i) rows = add_layer(i, rows);
    if (!stack_.head.empty()) add_head(stack_.jumping ? add_jumping() : rows->rows);
  }

 private:
  bool is_last(std::size_t i) const { return i + 1 == stack_.layers.size(); }
  /// Whether maps with biases read the rows of layer i, as they are.
  bool is_mapped(std::size_t i) const { return is_last(i) || stack_.layers[i + 1].maps_entries(); }

  /// A layer's columns of the gradient that the head gives all layers.
  Matrix jumping_gradient(std::size_t i) const {
    Matrix columns = joined_.gradient;
    if (columns.data != nullptr)
      columns.data +=
          static_cast<std::int64_t>(i) * stack_.layers[i].out * static_cast<std::int64_t>(size_of(columns.type));
    return columns;
  }

  StackInput add_layer(std::size_t i, std::optional<StackInput> input) {
    const StackLayer& layer = stack_.layers[i];
    const std::size_t level = program_.level_of(i);
    Convolution convolution{.index = i, .level = level, .layer = layer, .passes_z = passes_z_};
    const std::int64_t width = convolution.is_activated() ? padded(layer.out + 1) : padded(layer.out);
    convolution.z = layer.is_hidden ? values_of(program_, {level}, width) : logits();
    StackInput result{.rows = convolution.z, .dropout = layer.dropout};
    if (!is_last(i) && stack_.layers[i + 1].maps_own_rows())
      result.by_own = program_.gradient({level - 1}, padded(layer.out + 1));
    if (passes_z_) convolution.z_by_own = result.by_own;
    if (input && layer.has_residual) input->residual = {convolution.z.gradient.data, convolution.z.gradient.width};
    convolution.input = input;
    convolution.wants_own_features = i == 0 && layer.has_residual && !convolution.has_residual_within();
    const Matrix own_features = add_convolution(program_, convolution);
    if (!layer.is_hidden || (passes_z_ && !is_last(i)) || convolution.is_activated()) return result;

    result.rows = hidden_values(i, level);
    if (stack_.jumping) result.jumping = {jumping_gradient(i).data, joined_.gradient.width};
    add_hidden_rows(program_, {.level = level,
                               .norm = layer.norm,
                               .addend = residual_of(layer, input, own_features, convolution),
                               .dropout = layer.dropout,
                               .z = convolution.z,
                               .out = result.rows});
    layers_.push_back({result.rows.value.data, result.rows.value.width});
    return result;
  }

  Values logits() {
    const Matrix value = program_.logits();
    return {value, program_.logits_gradient()};
  }

  /// Room for the rows that a layer passes on, with ones for a map that comes next.
  Values hidden_values(std::size_t i, std::size_t level) {
    const std::int64_t out = stack_.layers[i].out;
    if (is_last(i) && stack_.jumping) return {program_.matrix({level}, out), jumping_gradient(i)};
    return values_of(program_, {level}, is_mapped(i) ? padded(out + 1) : out);
  }

  /// What is added to z. Its gradient is that of z.
  std::optional<Matrix> residual_of(const StackLayer& layer, const std::optional<StackInput>& input,
                                    const Matrix& own_features, const Convolution& convolution) {
    if (!layer.has_residual || convolution.has_residual_within()) return std::nullopt;
    const Matrix rows = input ? input->rows.value : own_features;
    if (!layer.residual) return rows;
    require(!input, "hidden layers have equal widths");
    const Values mapped{program_.matrix({convolution.level}, layer.out), convolution.z.gradient};
    add_map(program_, *layer.residual, rows, std::nullopt, mapped);
    return mapped.value;
  }

  /// The seeds' rows of all layers, for the head.
  Values add_jumping() {
    require(layers_.size() <= kMaxResidentLayers, "a stack has few layers");
    JoinedRows joined{
        .num_nodes = nullptr, .columns = stack_.layers.back().out, .num_layers = static_cast<int>(layers_.size())};
    std::ranges::copy(layers_, joined.layers);
    const auto joined_of = [&program = program_, joined](const StepRun& run) {
      JoinedRows mine = joined;
      mine.num_nodes = program.tree(run).size_of(0);
      return mine;
    };
    const auto rows = [&program = program_](const StepRun& run) { return program.levels().rows({0}, run.choice); };
    if (stack_.jumping == CombineKind::kConcat) {
      program_.add(
          [=, out = joined_.value](const StepRun& run) { concat_rows(joined_of(run), out, rows(run), run.stream); },
          [](const StepRun&) {});
      return joined_;
    }
    const Values largest = values_of(program_, {0}, padded(joined.columns + 1));
    program_.add([=](const StepRun& run) { max_rows(joined_of(run), largest.value, rows(run), run.stream); },
                 [=, to = joined_.gradient](const StepRun& run) {
                   max_rows_backward(joined_of(run), largest.gradient, to, rows(run), run.stream);
                 });
    return largest;
  }

  void add_head(Values rows) {
    for (std::size_t i = 0; i < stack_.head.size(); ++i) {
      const LinearMap& map = stack_.head[i];
      const bool is_last_map = i + 1 == stack_.head.size();
      const Values out = is_last_map ? logits() : values_of(program_, {0}, padded(map.out));
      add_map(program_, map, rows.value, rows.gradient, out);
      if (is_last_map) return;
      rows = values_of(program_, {0}, padded(map.out + 1));
      add_hidden_rows(program_, {.level = 0, .dropout = stack_.head_dropout, .z = out, .out = rows});
    }
  }

  StepProgram& program_;
  const Stack stack_;
  const bool passes_z_;
  Values joined_{};                ///< with jumping knowledge: its value of kConcat alone, all layers' gradients
  std::vector<RowAddend> layers_;  ///< the rows that they pass on, unless z is
};

}  // namespace

void build_stack(StepProgram& program) { Builder(program).build(); }

}  // namespace salient
