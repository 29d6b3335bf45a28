// models/resident/gcn_step.cpp - models/gcn.h as a step: every layer is a weighted sum, then one product with a bias.
#include "models/resident/step_program.h"

namespace salient {

void build_gcn(StepProgram& program) {
  const ModelStepShape& shape = program.shape();
  const SumRule rule = program.sum_rule(shape.sum, nullptr);
  Matrix below, below_gradient;  // the layer before: z
  for (std::size_t i = 0; i < program.num_layers(); ++i) {
    const bool is_last = i + 1 == program.num_layers();
    const std::size_t level = program.level_of(i);
    const std::int64_t in = i == 0 ? shape.in_dim : shape.hidden_dim;
    const Matrix operand =
        i == 0 ? program.matrix_ahead({level}, padded(in + 1)) : program.matrix({level}, padded(in + 1));
    const NeighbourSum sum = program.sum_with_ones(rule, operand);
    std::optional<Matrix> operand_gradient;
    if (i == 0) {
      program.add_first_sum(sum, operand);
    } else {
      operand_gradient = program.gradient({level}, operand.width);
      program.add_hidden_sum(sum,
                             {level, below, below_gradient, operand_gradient->data, static_cast<std::uint32_t>(i - 1)});
    }
    const std::string name = "convs." + std::to_string(i);
    below = is_last ? program.logits() : program.matrix({level}, padded(shape.hidden_dim));
    below_gradient = is_last ? program.logits_gradient() : program.gradient({level}, below.width);
    program.add({.input = operand,
                 .output = below,
                 .output_gradient = below_gradient,
                 .input_gradient = operand_gradient,
                 .out_dim = is_last ? shape.num_classes : shape.hidden_dim,
                 .parts = {{name + ".lin.weight", in, 0}, {name + ".bias", 1, in}}});
  }
}

}  // namespace salient
