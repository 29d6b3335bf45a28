// models/resident/gat_step.cpp - models/gat.h with one head as a step: every layer is a sum weighted by attention, then
// one product.
#include "models/resident/attention.h"
#include "models/resident/step_program.h"

namespace salient {
namespace {

Attention make_attention(StepProgram& program, std::size_t i, std::int64_t out_dim, const Matrix& operand) {
  const ModelStepShape& shape = program.shape();
  const std::string name = "convs." + std::to_string(i);
  const std::int64_t in = i == 0 ? shape.in_dim : shape.hidden_dim;
  const std::size_t level = program.level_of(i);
  const int fanout = shape.rule.fanouts[level];
  const std::int64_t slots = program.levels().capacity({level}) * (fanout + 2);
  const StepTensor weight = program.tensor(name + ".lin.weight"), src = program.tensor(name + ".att_src"),
                   dst = program.tensor(name + ".att_dst");
  return {.weight = static_cast<const float*>(weight.value),
          .att_src = static_cast<const float*>(src.value),
          .att_dst = static_cast<const float*>(dst.value),
          .weight_gradient = weight.gradient,
          .att_src_gradient = src.gradient,
          .att_dst_gradient = dst.gradient,
          .in_dim = in,
          .out_dim = out_dim,
          .fanout = fanout,
          .vectors = program.memory().array<float>(4 * padded(in)),
          .weights = program.memory().array<float>(slots),
          .edge_gradients = program.memory().array<float>(slots),
          .sums = program.memory().array<float>(attention_sums_size(in)),
          .operand = operand.data,
          .type = operand.type};
}

void add_first(StepProgram& program, const Attention& attention, const Matrix& gradient) {
  program.add(
      [&program, attention](const StepRun& run) {
        attention_vectors(attention, run.stream);
        attention_forward(attention, program.table_rows(run), run.stream);
      },
      [&program, attention, gradient](const StepRun& run) {
        attention_backward(attention, program.table_rows(run), gradient.data, run.stream);
      });
}

void add_later(StepProgram& program, const Attention& attention, const HiddenSum& below) {
  const auto rows = program.hidden_rows(below);
  program.add(
      [attention, rows](const StepRun& run) {
        attention_vectors(attention, run.stream);
        attention_forward(attention, rows(run), run.stream);
      },
      [attention, rows, below](const StepRun& run) {
        attention_backward(attention, rows(run), below.gradient, below.z_gradient.data, run.stream);
      });
}

}  // namespace

void build_gat(StepProgram& program) {
  const ModelStepShape& shape = program.shape();
  Matrix below, below_gradient;  // the layer before: z
  for (std::size_t i = 0; i < program.num_layers(); ++i) {
    const bool is_last = i + 1 == program.num_layers();
    const std::size_t level = program.level_of(i);
    const std::int64_t in = i == 0 ? shape.in_dim : shape.hidden_dim;
    const std::int64_t out = is_last ? shape.num_classes : shape.hidden_dim;
    const Matrix operand = program.matrix({level}, padded(in)), gradient = program.gradient({level}, padded(in));
    const Attention attention = make_attention(program, i, out, operand);
    if (i == 0)
      add_first(program, attention, gradient);
    else
      add_later(program, attention, {level, below, below_gradient, gradient.data, static_cast<std::uint32_t>(i - 1)});
    below = is_last ? program.logits() : program.matrix({level}, padded(out));
    below_gradient = is_last ? program.logits_gradient() : program.gradient({level}, padded(out));
    program.add({.input = operand,
                 .output = below,
                 .output_gradient = below_gradient,
                 .input_gradient = gradient,
                 .out_dim = out,
                 .parts = {{"convs." + std::to_string(i) + ".lin.weight", in, 0}}});
    program.add_last([attention](const StepRun& run) { attention_parameter_gradients(attention, run.stream); });
  }
}

}  // namespace salient
