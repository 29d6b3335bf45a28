// models/resident/gatv2_step.cpp - models/gatv2.h with one head as a step.
//
//   (x | 1) of nodes and entries --- lin_l --> l;  of the nodes alone --- lin_r --> r;  l, r --- attention, bias, relu,
//   dropout --> (h | 1) of the next layer
#include "models/resident/attention_v2.h"
#include "models/resident/step_program.h"

namespace salient {
namespace {

/// What a layer reads, and the gradients of it by l and by r; the latter of the first rows alone.
struct Input {
  Matrix value;
  std::optional<Matrix> by_l{}, by_r{};
};

struct Layer {
  std::size_t index, level;
  std::int64_t in, out;
  bool is_last;
  std::string name;
};

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

/// The rows that layer i's l has.
Height height_of_l(const StepProgram& program, std::size_t level) {
  if (level == program.levels().last()) return {level, 1 + program.shape().rule.fanouts[level]};
  return {level + 1};
}

AttentionV2 make_attention(StepProgram& program, const Layer& layer) {
  const Height of_l = height_of_l(program, layer.level);
  const std::int64_t width = padded(layer.out);
  const int fanout = program.shape().rule.fanouts[layer.level];
  const std::int64_t slots = program.levels().capacity({layer.level}) * (fanout + 2);
  const StepTensor att = program.tensor(layer.name + ".att"), bias = program.tensor(layer.name + ".bias");
  return {.att = static_cast<const float*>(att.value),
          .bias = static_cast<const float*>(bias.value),
          .att_gradient = att.gradient,
          .bias_gradient = bias.gradient,
          .columns = layer.out,
          .fanout = fanout,
          .l = program.matrix(of_l, width),
          .r = program.matrix({layer.level}, width),
          .l_gradient = program.gradient(of_l, width),
          .r_gradient = program.gradient({layer.level}, width),
          .weights = program.memory().array<float>(slots),
          .sums = program.memory().array<float>(attention_v2_sums_size(layer.out)),
          .dropout = layer.is_last ? program.no_dropout() : program.dropout(static_cast<std::uint32_t>(layer.index)),
          .out = layer.is_last ? program.logits() : program.matrix({layer.level}, padded(layer.out + 1)),
          .is_hidden = !layer.is_last};
}

void add_linear(StepProgram& program, const std::string& name, const Layer& layer, const Matrix& input,
                const LinearLayer& matrices) {
  LinearLayer linear = matrices;
  linear.input = input;
  linear.out_dim = layer.out;
  linear.parts = {{name + ".weight", layer.in, 0}, {name + ".bias", 1, layer.in}};
  program.add(linear);
}

/// The layer's result, with room for its gradients.
Input add_layer(StepProgram& program, const Layer& layer, const Input& input) {
  const AttentionV2 a = make_attention(program, layer);
  add_linear(program, layer.name + ".lin_l", layer, input.value,
             {.input = {},
              .output = a.l,
              .output_gradient = a.l_gradient,
              .input_gradient = input.by_l,
              .out_dim = 0,
              .parts = {}});
  add_linear(program, layer.name + ".lin_r", layer, input.value,
             {.input = {},
              .output = a.r,
              .output_gradient = a.r_gradient,
              .input_gradient = input.by_r,
              .out_dim = 0,
              .parts = {}});
  Input result{a.out};
  AttentionV2Gradient gradient{program.logits_gradient()};
  if (!layer.is_last) {
    const std::size_t above = layer.level - 1;  // the level that the next layer computes
    result.by_l = program.gradient({layer.level}, a.out.width);
    result.by_r = program.gradient({above}, a.out.width);
    gradient = {*result.by_l, {result.by_r->data, a.out.width}, program.levels().capacity({above})};
  }
  const std::size_t level = layer.level;
  const auto attention = [&program, a](const StepRun& run) {
    AttentionV2 mine = a;
    mine.dropout = program.of(run, a.dropout);
    return mine;
  };
  program.add(
      [=, &program](const StepRun& run) {
        attention_v2_forward(attention(run), entry_rows(program, level, run), run.stream);
      },
      [=, &program](const StepRun& run) {
        attention_v2_backward(attention(run), entry_rows(program, level, run), gradient, run.stream);
      });
  return result;
}

}  // namespace

void build_gatv2(StepProgram& program) {
  const ModelStepShape& shape = program.shape();
  const std::size_t last = program.levels().last();
  const Matrix features = program.matrix(height_of_l(program, last), padded(shape.in_dim + 1));
  program.add(
      [&program, features, last](const StepRun& run) {
        gather_entries(program.features(), entry_rows(program, last, run), features, run.stream);
      },
      [](const StepRun&) {});
  Input input{features};
  for (std::size_t i = 0; i < program.num_layers(); ++i) {
    const bool is_last = i + 1 == program.num_layers();
    input = add_layer(program,
                      {.index = i,
                       .level = program.level_of(i),
                       .in = i == 0 ? shape.in_dim : shape.hidden_dim,
                       .out = is_last ? shape.num_classes : shape.hidden_dim,
                       .is_last = is_last,
                       .name = "convs." + std::to_string(i)},
                      input);
  }
}

}  // namespace salient
