// models/resident/hidden_rows.cpp - what is between the layers of a stack, see convolutions.h.
#include "core/error.h"
#include "models/resident/combined_rows.h"
#include "models/resident/convolutions.h"
#include "models/resident/row_norm.h"
#include "models/resident/seed_rows.h"

namespace salient {
namespace {

std::int64_t rows_of(const StepProgram& program, const HiddenRows& hidden, const StepRun& run) {
  return program.levels().rows({hidden.level}, run.choice);
}

Matrix addend_of(const HiddenRows& hidden, const StepRun& run) {
  return hidden.addend ? hidden.addend->of(run.tree) : Matrix{};
}

TreeDropout dropout_of(const StepProgram& program, const HiddenRows& hidden, const StepRun& run) {
  return hidden.dropout ? program.of(run, program.dropout(*hidden.dropout)) : program.no_dropout();
}

void add_activation(StepProgram& program, const HiddenRows& hidden) {
  const auto layer = [&program, hidden](const StepRun& run) {
    const SampledTree& tree = program.tree(run);
    return ReluLayer{tree.nodes(),   tree.size_of(hidden.level), dropout_of(program, hidden, run),
                     hidden.z.value, hidden.out.value,           addend_of(hidden, run)};
  };
  program.add([&program, layer,
               hidden](const StepRun& run) { activate_rows(layer(run), rows_of(program, hidden, run), run.stream); },
              [&program, layer, hidden](const StepRun& run) {
                activation_backward(layer(run), hidden.out.gradient, hidden.z.gradient, rows_of(program, hidden, run),
                                    run.stream);
              });
}

NormPart norm_part(const HiddenRows& hidden) {
  return {.level = hidden.level,
          .columns = hidden.z.value.width,
          .slope = 0,
          .dropout = hidden.dropout,
          .z = hidden.z.value,
          .out = hidden.out.value,
          .gradient = hidden.out.gradient,
          .dz = hidden.z.gradient};
}

/// The addend is added to z where that is: its kernels read z four times.
void add_batch_norm(StepProgram& program, const HiddenRows& hidden) {
  if (hidden.addend)
    program.add(
        [&program, hidden](const StepRun& run) {
          const Matrix addend = addend_of(hidden, run);
          add_rows(hidden.z.value, hidden.z.value.width, {addend.data, addend.width},
                   program.tree(run).size_of(hidden.level), rows_of(program, hidden, run), run.stream);
        },
        [](const StepRun&) {});
  program.add_norm(hidden.norm.name, norm_part(hidden));
}

void add_row_norm(StepProgram& program, const HiddenRows& hidden) {
  const StepTensor weight = program.tensor(hidden.norm.name + ".weight"),
                   bias = program.tensor(hidden.norm.name + ".bias");
  const std::int64_t rows = program.levels().capacity({hidden.level}), columns = hidden.z.value.width;
  StepMemory& memory = program.memory();
  float* const statistics = program.is_training() ? memory.array<float>(2 * rows) : nullptr;
  auto* const kept = program.is_training() ? memory.array<std::uint8_t>(rows * columns / 8) : nullptr;
  float* const sums = program.is_training() ? memory.array<float>(row_norm_sums_size(columns)) : nullptr;
  const auto norm = [=, &program](const StepRun& run) {
    const SampledTree& tree = program.tree(run);
    return RowNorm{.weight = static_cast<const float*>(weight.value),
                   .bias = static_cast<const float*>(bias.value),
                   .weight_gradient = weight.gradient,
                   .bias_gradient = bias.gradient,
                   .nodes = tree.nodes(),
                   .num_nodes = tree.size_of(hidden.level),
                   .dropout = dropout_of(program, hidden, run),
                   .z = hidden.z.value,
                   .addend = addend_of(hidden, run),
                   .out = hidden.out.value,
                   .statistics = statistics,
                   .kept = kept,
                   .sums = sums};
  };
  program.add([&program, norm,
               hidden](const StepRun& run) { row_norm_forward(norm(run), rows_of(program, hidden, run), run.stream); },
              [&program, norm, hidden](const StepRun& run) {
                row_norm_backward(norm(run), hidden.out.gradient, hidden.z.gradient, rows_of(program, hidden, run),
                                  run.stream);
              });
}

}  // namespace

void add_normed_map(StepProgram& program, const LinearLayer& map, std::optional<std::int64_t> ones,
                    const HiddenRows& hidden) {
  if (ones && !hidden.addend && program.has_moments(map.input.width, map.output.width)) {
    program.add_mapped_norm(map, *ones, hidden.norm.name, norm_part(hidden));
    return;
  }
  program.add(map);
  add_hidden_rows(program, hidden);
}

void add_hidden_rows(StepProgram& program, const HiddenRows& hidden) {
  switch (hidden.norm.kind) {
    case NormKind::kNone: return add_activation(program, hidden);
    case NormKind::kBatch: return add_batch_norm(program, hidden);
    case NormKind::kLayer: return add_row_norm(program, hidden);
  }
}

}  // namespace salient
