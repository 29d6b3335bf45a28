// models/resident/gin_step.cpp - models/gin.h as a step.
//
//   rows --- sum --> operand --- nn.0 --> z --- norm, relu --> a --- nn.3 --> rows of the next layer (relu as it reads)
//   seeds --- relu --> --- lin1 --> --- relu, dropout --> --- lin2 --> logits
#include "models/resident/batch_norm.h"
#include "models/resident/seed_rows.h"
#include "models/resident/step_program.h"

namespace salient {
namespace {

/// A matrix and its gradient.
struct Values {
  Matrix value, gradient;
};

Values values_of(StepProgram& program, std::size_t level, std::int64_t width) {
  return {program.matrix({level}, width), program.gradient({level}, width)};
}

void add_linear(StepProgram& program, const std::string& name, const Matrix& input, std::optional<Matrix> gradient,
                const Values& output) {
  const std::int64_t in = name == "convs.0.nn.0" ? program.shape().in_dim : program.shape().hidden_dim;
  program.add({.input = input,
               .output = output.value,
               .output_gradient = output.gradient,
               .input_gradient = gradient,
               .out_dim = name == "lin2" ? program.shape().num_classes : program.shape().hidden_dim,
               .parts = {{name + ".weight", in, 0}, {name + ".bias", 1, in}}});
}

/// (relu(z) | 1), or with dropout between.
Values add_activation(StepProgram& program, const Values& z, bool has_dropout) {
  const Values out = values_of(program, 0, padded(z.value.width + 1));
  const auto activation = [&program, z, out, has_dropout](const StepRun& run) {
    const SampledTree& tree = program.tree(run);
    const TreeDropout dropout = has_dropout ? program.of(run, program.dropout(0)) : program.no_dropout();
    return ReluLayer{tree.nodes(), tree.size_of(0), dropout, z.value, out.value};
  };
  const std::int64_t rows = program.shape().max_seeds;
  program.add(
      [=](const StepRun& run) { activate_rows(activation(run), rows, run.stream); },
      [=](const StepRun& run) { activation_backward(activation(run), out.gradient, z.gradient, rows, run.stream); });
  return out;
}

/// The rows of the layer, before its ReLU.
Values add_convolution(StepProgram& program, std::size_t i, const Values& below) {
  const ModelStepShape& shape = program.shape();
  const std::string name = "convs." + std::to_string(i);
  const std::size_t level = program.level_of(i);
  const Matrix operand = i == 0 ? program.matrix_ahead({level}, padded(shape.in_dim + 1))
                                : program.matrix({level}, padded(shape.hidden_dim + 1));
  const SumRule rule = program.sum_rule(shape.sum, program.value(name + ".eps"));
  const NeighbourSum sum = program.sum_with_ones(rule, operand);
  std::optional<Matrix> operand_gradient;
  if (i == 0) {
    program.add_first_sum(sum, operand);
  } else {
    operand_gradient = program.gradient({level}, operand.width);
    program.add_hidden_sum(sum, {level, below.value, below.gradient, operand_gradient->data, std::nullopt});
  }
  const Values z = values_of(program, level, shape.hidden_dim),
               a = values_of(program, level, padded(shape.hidden_dim + 1));
  const Values out = values_of(program, level, shape.hidden_dim);
  add_linear(program, name + ".nn.0", operand, operand_gradient, z);
  program.add_norm(name + ".nn.1", {.level = level,
                                    .columns = shape.hidden_dim,
                                    .slope = 0,
                                    .z = z.value,
                                    .out = a.value,
                                    .gradient = a.gradient,
                                    .dz = z.gradient});
  add_linear(program, name + ".nn.3", a.value, a.gradient, out);
  return out;
}

}  // namespace

void build_gin(StepProgram& program) {
  Values rows;
  for (std::size_t i = 0; i < program.num_layers(); ++i) rows = add_convolution(program, i, rows);
  const Values hidden = add_activation(program, rows, /*has_dropout=*/false);
  const Values first = values_of(program, 0, program.shape().hidden_dim);
  add_linear(program, "lin1", hidden.value, hidden.gradient, first);
  const Values second = add_activation(program, first, /*has_dropout=*/true);
  const Matrix logits = program.logits();
  add_linear(program, "lin2", second.value, second.gradient, {logits, program.logits_gradient()});
}

}  // namespace salient
