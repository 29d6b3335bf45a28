// models/resident/gat_step.cpp - the convolution of models/gat.h with one head: a sum weighted by attention, then one
// product.
#include "models/resident/attention.h"
#include "models/resident/attention_held.h"
#include "models/resident/convolutions.h"
#include "models/resident/urgent_stream.h"

namespace salient {
namespace {

Attention make_attention(StepProgram& program, const Convolution& c, const Matrix& operand) {
  const int fanout = program.shape().rule.fanouts[c.level];
  const std::int64_t slots = program.levels().capacity({c.level}) * (fanout + 2), in = c.layer.in;
  const StepTensor weight = program.tensor(c.layer.maps[0].weight), src = program.tensor(c.layer.attention->vectors[0]),
                   dst = program.tensor(c.layer.attention->vectors[1]);
  return {.weight = static_cast<const float*>(weight.value),
          .att_src = static_cast<const float*>(src.value),
          .att_dst = static_cast<const float*>(dst.value),
          .weight_gradient = weight.gradient,
          .att_src_gradient = src.gradient,
          .att_dst_gradient = dst.gradient,
          .in_dim = in,
          .out_dim = c.layer.out,
          .fanout = fanout,
          .vectors = program.memory().array<float>(4 * padded(in)),
          .weights = program.memory().array<float>(slots),
          .edge_gradients = program.memory().array<float>(slots),
          .sums = program.memory().array<float>(attention_sums_size(in)),
          .operand = operand.data,
          .type = operand.type};
}

/// Beside the rest, which does not wait for them.
void enqueue_vector_gradients(const Attention& attention, const StepRun& run) {
  follow(run.beside, run.stream);
  attention_vector_gradients(attention, run.beside);
}

void add_first(StepProgram& program, const Attention& attention, const Matrix& gradient) {
  program.add(
      [&program, attention](const StepRun& run) {
        attention_vectors(attention, run.stream);
        const TableRows rows = program.table_rows(run);
        holds_rows(attention) ? held_forward(attention, rows, run.stream)
                              : attention_forward(attention, rows, run.stream);
      },
      [&program, attention, gradient](const StepRun& run) {
        const TableRows rows = program.table_rows(run);
        holds_rows(attention) ? held_backward(attention, rows, gradient.data, run.stream)
                              : attention_backward(attention, rows, gradient.data, run.stream);
        enqueue_vector_gradients(attention, run);
      });
}

void add_later(StepProgram& program, const Attention& attention, const Convolution& c, const Matrix& gradient) {
  const Values& input = c.input->rows;
  const auto rows = program.hidden_rows({.level = c.level,
                                         .z = input.value,
                                         .z_gradient = input.gradient,
                                         .gradient = gradient.data,
                                         .is_activated = !c.passes_z,
                                         .dropout = c.input->dropout});
  program.add_early([attention](const StepRun& run) { attention_vectors(attention, run.beside); });
  program.add(
      [attention, rows](const StepRun& run) {
        follow(run.stream, run.beside);
        attention_forward(attention, rows(run), run.stream);
      },
      [&program, attention, rows, c, gradient](const StepRun& run) {
        attention_backward(attention, rows(run), gradient.data, c.input->rows.gradient.data, run.stream);
        enqueue_vector_gradients(attention, run);
        add_to_input_gradient(program, c, run);
      });
}

}  // namespace

Matrix add_gat_convolution(StepProgram& program, const Convolution& c) {
  const std::int64_t width = padded(c.layer.in);
  const Matrix operand = program.matrix({c.level}, width), gradient = program.gradient({c.level}, width);
  const Attention attention = make_attention(program, c, operand);
  if (c.input)
    add_later(program, attention, c, gradient);
  else
    add_first(program, attention, gradient);
  add_map(program, c.layer.maps[0], operand, gradient, c.z);
  program.add_last([attention](const StepRun& run) { attention_parameter_gradients(attention, run.stream); });
  return c.wants_own_features ? add_own_features(program) : Matrix{};
}

}  // namespace salient
