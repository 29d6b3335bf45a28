// models/resident/sage_ri_step.cpp - models/sage_ri.h as a step.
//
//   features --- D, mean and own --> operand --- lin_l | lin_r --> z --- norm, leaky relu, D, + residual --> x_1 ...
//   (x_0 | 1 | x_1 | ... | x_L) of the seeds --- mlp.0 --> --- norm, leaky relu --> --- mlp.3 --> logits
#include "models/resident/batch_norm.h"
#include "models/resident/seed_rows.h"
#include "models/resident/step_program.h"

namespace salient {
namespace {

constexpr float kSlope = 0.01F;  // of leaky_relu below 0
enum Mask : std::uint32_t { kInput, kNeighbours, kSelf, kOutput };

std::uint32_t mask_of(std::size_t layer, Mask mask) { return static_cast<std::uint32_t>(layer) * 4 + mask; }

struct Rows {
  Matrix value, gradient;
};

void* element(const Matrix& matrix, std::int64_t column) {
  return matrix.data == nullptr ? nullptr : matrix.data + column * static_cast<std::int64_t>(size_of(matrix.type));
}

/// Column of x_i in the head's operand.
std::int64_t head_column(const ModelOptions& model, std::size_t i) {
  return i == 0 ? 0 : padded(model.in_dim + 1) + model.hidden_dim * static_cast<std::int64_t>(i - 1);
}

struct Head {
  const Rows& head;
  const Matrix& x0;
  const std::vector<Rows>& rows;  ///< x_1 ... x_L
};

void add_head(StepProgram& program, const Head& of) {
  const ModelOptions& model = program.shape().model;
  const std::int64_t hidden = model.hidden_dim, classes = model.num_classes, seeds = program.shape().max_seeds;

  std::vector<std::pair<Matrix, std::int64_t>> parts{{of.x0, 0}};
  for (std::size_t i = 0; i < of.rows.size(); ++i) parts.emplace_back(of.rows[i].value, head_column(model, i + 1));
  const Matrix last = of.rows.back().gradient, head_gradient = of.head.gradient, head = of.head.value;
  const std::int64_t last_column = head_column(model, of.rows.size());
  program.add(
      [parts, head, seeds](const StepRun& run) {
        for (const auto& [rows, column] : parts) put_columns(rows.of(run.tree), head, column, seeds, run.stream);
      },
      [last, head_gradient, last_column, seeds](const StepRun& run) {
        take_columns(head_gradient, last_column, last, seeds, run.stream);
      });
  const std::string mlp = "mlp.module_list.";
  const Rows first{program.matrix({0}, padded(2 * classes)), program.gradient({0}, padded(2 * classes))};
  const Rows second{program.matrix({0}, padded(2 * classes + 1)), program.gradient({0}, padded(2 * classes + 1))};
  const std::int64_t stride = model.in_dim + hidden * static_cast<std::int64_t>(of.rows.size());
  std::vector<WeightPart> weights{{mlp + "0.weight", model.in_dim, 0, stride}, {mlp + "0.bias", 1, model.in_dim}};
  for (std::size_t i = 0; i < of.rows.size(); ++i)
    weights.push_back({mlp + "0.weight", hidden, head_column(model, i + 1), stride,
                       model.in_dim + hidden * static_cast<std::int64_t>(i)});
  program.add({.input = head,
               .output = first.value,
               .output_gradient = first.gradient,
               .input_gradient = head_gradient,
               .out_dim = 2 * classes,
               .parts = weights});
  program.add_norm(mlp + "1", {.level = 0,
                               .columns = 2 * classes,
                               .slope = kSlope,
                               .z = first.value,
                               .out = second.value,
                               .gradient = second.gradient,
                               .dz = first.gradient});
  const Matrix logits = program.logits();
  program.add({.input = second.value,
               .output = logits,
               .output_gradient = program.logits_gradient(),
               .input_gradient = second.gradient,
               .out_dim = classes,
               .parts = {{mlp + "3.weight", 2 * classes, 0}, {mlp + "3.bias", 1, 2 * classes}}});
}

class Builder {
 public:
  explicit Builder(StepProgram& program)
      : program_(program),
        model_(program.shape().model),
        head_width_(padded(model_.in_dim + 1) + model_.hidden_dim * static_cast<std::int64_t>(program.num_layers())),
        head_{program.matrix({0}, head_width_), program.gradient({0}, head_width_)},
        x0_(program.matrix_ahead({program.level_of(0)}, padded(model_.in_dim + 1))) {}

  void build() {
    for (std::size_t i = 0; i < program_.num_layers(); ++i) add_layer(i);
    add_head(program_, {head_, x0_, rows_});
  }

 private:
  NeighbourSum sum_of(std::size_t i, const Matrix& operand) {
    return {.rule = program_.sum_rule(SumKind::kMean, nullptr),
            .input = i == 0 ? program_.dropout(mask_of(0, kInput)) : program_.no_dropout(),
            .neighbours = program_.dropout(mask_of(i, kNeighbours)),
            .self = program_.dropout(mask_of(i, kSelf)),
            .has_own_part = true,
            .has_ones = i == 0 && has_moments(),
            .width = operand.width,
            .type = operand.type,
            .operand = operand.data,
            .own_rows = nullptr,
            .drawn = i == 0 ? nullptr : drawn_of(program_.level_of(i))};
  }

  /// Of the first layer's norm, whose operand then has a column of ones behind the means.
  bool has_moments() const { return program_.has_moments(2 * padded(model_.in_dim + 1), model_.hidden_dim); }
  /// Columns of each of the two parts of layer i's operand.
  std::int64_t part_width(std::size_t i) const {
    if (i > 0) return padded(model_.hidden_dim);
    return padded(has_moments() ? model_.in_dim + 1 : model_.in_dim);
  }

  std::uint8_t* drawn_of(std::size_t level) {
    if (!program_.is_training() || model_.dropout == 0) return nullptr;
    return program_.memory().array<std::uint8_t>(program_.levels().capacity({level + 1}) * model_.hidden_dim / 8);
  }

  /// Writes the operand of layer i. Where its gradient goes; none for features.
  std::optional<Matrix> add_sum(std::size_t i, const Matrix& operand) {
    const NeighbourSum sum = sum_of(i, operand);
    const std::size_t level = program_.level_of(i);
    if (i == 0) {
      program_.add_first_sum(sum, operand, x0_);
      return std::nullopt;
    }
    const Matrix gradient = program_.gradient({level}, operand.width);
    const Rows below = rows_[i - 1];  // x_i: the residual of x_{i+1} too, and a part of the head's operand
    const RowAddend residual{rows_[i].gradient.data, model_.hidden_dim};
    const RowAddend head{element(head_.gradient, head_column(model_, i)), head_width_};
    program_.add(
        [&program = program_, sum, below, level](const StepRun& run) {
          neighbour_sum(program.of(run, sum), program.level_rows(level, below.value, run), run.stream);
        },
        [&program = program_, sum, below, level, gradient, residual, head,
         masked = i == 1 ? first_masked_ : nullptr](const StepRun& run) {
          aggregate_backward(program.of(run, sum), program.level_rows(level, below.value, run),
                             {gradient.data, below.gradient.data, residual, head, program.tree(run).header(),
                              masked ? masked(run) : MaskedRows{}},
                             run.stream);
        });
    return gradient;
  }

  void add_layer(std::size_t i) {
    const std::size_t level = program_.level_of(i);
    const std::int64_t hidden = model_.hidden_dim, in = i == 0 ? model_.in_dim : hidden, part = part_width(i);
    const std::string name = "convs." + std::to_string(i);
    rows_.push_back({program_.matrix({level}, hidden), program_.gradient({level}, hidden)});
    const Rows x = rows_.back();
    const Matrix operand = i == 0 ? program_.matrix_ahead({level}, 2 * part) : program_.matrix({level}, 2 * part);
    const std::optional<Matrix> operand_gradient = add_sum(i, operand);
    const Rows z{program_.matrix({level}, hidden), program_.gradient({level}, hidden)};
    const LinearLayer map{.input = operand,
                          .output = z.value,
                          .output_gradient = z.gradient,
                          .input_gradient = operand_gradient,
                          .out_dim = hidden,
                          .parts = {{name + ".lin_l.weight", in, 0}, {name + ".lin_r.weight", in, part}}};
    NormPart norm{.level = level,
                  .columns = hidden,
                  .slope = kSlope,
                  .dropout = mask_of(i, kOutput),
                  .z = z.value,
                  .out = x.value,
                  .residual = i == 0 ? add_first_residual(x.gradient) : rows_[i - 1].value,
                  .gradient = x.gradient,
                  .dz = z.gradient};
    const std::string norm_name = "bns." + std::to_string(i);
    if (i == 0 && has_moments()) {
      norm.is_masked = program_.num_layers() > 1;  // the next layer's sum has rows of this one
      first_masked_ = program_.add_mapped_norm(map, in, norm_name, norm);
      return;
    }
    program_.add(map);
    program_.add_norm(norm_name, norm);
  }

  /// The map of the nodes' own features. @param gradient  of its result
  Matrix add_first_residual(const Matrix& gradient) {
    const Matrix residual = program_.matrix({program_.level_of(0)}, model_.hidden_dim);
    program_.add({.input = x0_,
                  .output = residual,
                  .output_gradient = gradient,
                  .out_dim = model_.hidden_dim,
                  .parts = {{"res_linears.0.weight", model_.in_dim, 0}, {"res_linears.0.bias", 1, model_.in_dim}}});
    return residual;
  }

  StepProgram& program_;
  const ModelOptions& model_;
  const std::int64_t head_width_;
  const Rows head_;
  const Matrix x0_;
  std::vector<Rows> rows_;                                    // x_1 ... x_L
  std::function<MaskedRows(const StepRun&)> first_masked_{};  // of x_1's gradient; none without moments
};

}  // namespace

void build_sage_ri(StepProgram& program) { Builder(program).build(); }

}  // namespace salient
