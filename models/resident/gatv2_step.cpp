// models/resident/gatv2_step.cpp - the convolution of models/gatv2.h with one head.
//
//   (x | 1) of nodes and entries --- lin_l --> l;  of the nodes alone --- lin_r --> r;  l, r --- attention, bias --> z;
//   in a plain stack --- relu, dropout --> (h | 1) of the next layer
#include "models/resident/attention_v2.h"
#include "models/resident/convolutions.h"

namespace salient {
namespace {

/// The rows that layer i's l has.
Height height_of_l(const StepProgram& program, std::size_t level) {
  if (level == program.levels().last()) return {level, 1 + program.shape().rule.fanouts[level]};
  return {level + 1};
}

AttentionV2 make_attention(StepProgram& program, const Convolution& c) {
  const StackLayer& layer = c.layer;
  const Height of_l = height_of_l(program, c.level);
  const std::int64_t width = padded(layer.out);
  const int fanout = program.shape().rule.fanouts[c.level];
  const std::int64_t slots = program.levels().capacity({c.level}) * (fanout + 2);
  const StepTensor att = program.tensor(layer.attention->vectors[0]), bias = program.tensor(layer.attention->bias);
  return {.att = static_cast<const float*>(att.value),
          .bias = static_cast<const float*>(bias.value),
          .att_gradient = att.gradient,
          .bias_gradient = bias.gradient,
          .columns = layer.out,
          .fanout = fanout,
          .l = program.matrix(of_l, width),
          .r = program.matrix({c.level}, width),
          .l_gradient = program.gradient(of_l, width),
          .r_gradient = program.gradient({c.level}, width),
          .weights = program.memory().array<float>(slots),
          .sums = program.memory().array<float>(attention_v2_sums_size(layer.out)),
          .dropout = c.is_activated() ? program.dropout(layer.dropout.value()) : program.no_dropout(),
          .out = c.z.value,
          .is_hidden = c.is_activated()};
}

/// (x | 1) of the last level's nodes and of their entries.
Values add_features(StepProgram& program, const Convolution& c) {
  const Matrix features = program.matrix_ahead(height_of_l(program, c.level), padded(c.layer.in + 1));
  program.add_ahead([&program, features, level = c.level](const StepRun& run) {
    // ahead, the number of rows that the step will take is not known to the host
    const RowChoices choices = program.prepares_ahead() ? program.levels().choices_for_kernel() : RowChoices{};
    gather_entries(program.features(), entry_rows(program, level, run), choices, features.of(run.tree), run.stream);
  });
  return {features, {}};
}

void add_attention(StepProgram& program, const Convolution& c, const AttentionV2& a) {
  AttentionV2Gradient gradient{c.z.gradient};
  if (c.z_by_own.width > 0) {
    const std::size_t above = c.level - 1;  // the level that the next layer computes
    gradient.more = {c.z_by_own.data, c.z_by_own.width};
    gradient.more_rows = program.levels().capacity({above});
  }
  const auto attention = [&program, a](const StepRun& run) {
    AttentionV2 mine = a;
    mine.dropout = program.of(run, a.dropout);
    return mine;
  };
  program.add(
      [&program, attention, level = c.level](const StepRun& run) {
        attention_v2_forward(attention(run), entry_rows(program, level, run), run.stream);
      },
      [&program, attention, gradient, level = c.level](const StepRun& run) {
        attention_v2_backward(attention(run), entry_rows(program, level, run), gradient, run.stream);
      });
}

}  // namespace

EntryRows entry_rows(const StepProgram& program, std::size_t level, const StepRun& run) {
  const SampledTree& tree = program.tree(run);
  const bool is_last_hop = level == program.levels().last();
  const std::int64_t capacity = program.levels().rows({level}, run.choice);
  if (is_last_hop) {
    const LastHop hop = program.table_rows(run).hop;
    return {.hop = hop,
            .is_last_hop = true,
            .nodes = tree.nodes(),
            .num_nodes = tree.size_of(level),
            .capacity = capacity,
            .rows = capacity * (1 + hop.fanout)};
  }
  return {.growth = program.growth(level, run),
          .is_last_hop = false,
          .nodes = tree.nodes(),
          .num_nodes = tree.size_of(level),
          .capacity = capacity,
          .rows = program.levels().rows({level + 1}, run.choice)};
}

Matrix add_own_features(StepProgram& program) {
  const std::size_t level = program.levels().last();
  const Matrix rows = program.matrix_ahead({level}, padded(program.shape().model.in_dim + 1));
  program.add_ahead([&program, rows, level](const StepRun& run) {
    EntryRows entries = entry_rows(program, level, run);
    entries.rows = entries.capacity;  // the nodes' own, which come first
    gather_entries(program.features(), entries, rows.of(run.tree), run.stream);
  });
  return rows;
}

Matrix add_gatv2_convolution(StepProgram& program, const Convolution& c) {
  if (c.input && !c.is_plain)  // behind the gradients of both maps
    program.add([](const StepRun&) {}, [&program, c](const StepRun& run) { add_to_input_gradient(program, c, run); });
  const Values input = c.input ? c.input->rows : add_features(program, c);
  const AttentionV2 a = make_attention(program, c);
  const auto of_input = [&](const Matrix& gradient) { return c.input ? std::optional(gradient) : std::nullopt; };
  add_map(program, c.layer.maps[0], input.value, of_input(input.gradient), {a.l, a.l_gradient});
  add_map(program, c.layer.maps[1], input.value, of_input(c.input ? c.input->by_own : Matrix{}), {a.r, a.r_gradient});
  add_attention(program, c, a);
  if (!c.wants_own_features) return {};
  Matrix own = input.value;  // they come first
  own.height = {c.level};
  return own;
}

}  // namespace salient
