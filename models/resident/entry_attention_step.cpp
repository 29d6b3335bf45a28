// models/resident/entry_attention_step.cpp - convolutions whose attention reads maps of every entry's row: gatv2's,
// transformer's, and gat's with several heads.
//
//   (x | 1) of nodes and entries --- lin_l --> l;  of the nodes alone --- lin_r --> r;  l, r --- attention, bias --> z;
//   in a plain stack --- relu, dropout --> (h | 1) of the next layer
//
// With lin_key and lin_value side by side for lin_l, with lin_query and lin_skip for lin_r; of gat lin and nothing.
#include "core/error.h"
#include "models/resident/attention_v2.h"
#include "models/resident/convolutions.h"
#include "models/resident/entry_attention.h"

namespace salient {
namespace {

/// The convolution's maps by the rows that they read, and the kernels' matrices of both.
struct Maps {
  std::vector<LinearMap> of_entries{}, of_own{};
  Values entries{}, own{};
};

Maps maps_of(const StackLayer& layer) {
  const std::vector<LinearMap>& maps = layer.maps;
  switch (layer.attention->kind) {
    case AttentionKind::kGat: return {.of_entries = {maps.at(0)}};
    case AttentionKind::kGatv2: return {.of_entries = {maps.at(0)}, .of_own = {maps.at(1)}};
    case AttentionKind::kDot:  // queries, keys, values, own rows
      return {.of_entries = {maps.at(1), maps.at(2)}, .of_own = {maps.at(0), maps.at(3)}};
    case AttentionKind::kRelationGat:
    case AttentionKind::kHgt: break;
  }
  fail(ErrorKind::kInternal, "attention without kernels");
}

/// The rows that layer i's l has.
RowCount height_of_l(const StepProgram& program, std::size_t level) {
  if (level == program.levels().last()) return {level, 1 + program.shape().rule.fanouts[level]};
  return {level + 1};
}

AttentionV2 make_attention(StepProgram& program, const Convolution& c, const Maps& maps) {
  const StackLayer& layer = c.layer;
  const int fanout = program.shape().rule.fanouts[c.level];
  const std::int64_t slots = program.levels().capacity({c.level}) * (fanout + 2);
  const StepTensor att = program.tensor(layer.attention->vectors[0]), bias = program.tensor(layer.attention->bias);
  return {.att = static_cast<const float*>(att.value),
          .bias = static_cast<const float*>(bias.value),
          .att_gradient = att.gradient,
          .bias_gradient = bias.gradient,
          .columns = layer.out,
          .fanout = fanout,
          .l = maps.entries.value,
          .r = maps.own.value,
          .l_gradient = maps.entries.gradient,
          .r_gradient = maps.own.gradient,
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

void add_attention_v2(StepProgram& program, const Convolution& c, const Maps& maps) {
  const AttentionV2 a = make_attention(program, c, maps);
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

void add_attention_of_heads(StepProgram& program, const Convolution& c, const Maps& maps) {
  const Attend& attend = *c.layer.attention;
  std::vector<std::string> names = attend.vectors;
  if (!attend.bias.empty()) names.push_back(attend.bias);
  const std::int64_t part = padded(c.layer.out);
  EntryAttention a{.kind = attend.kind,
                   .heads = attend.heads,
                   .columns = c.layer.out / attend.heads,
                   .fanout = program.shape().rule.fanouts[c.level],
                   .sources = maps.entries.value,
                   .destinations = maps.own.value,
                   .sources_gradient = maps.entries.gradient,
                   .destinations_gradient = maps.own.gradient,
                   .part = part,
                   .out = c.z.value};
  if (!names.empty()) {
    const StepTensor first = program.tensor(names.at(0)), second = program.tensor(names.at(1));
    a.first = static_cast<const float*>(first.value), a.first_gradient = first.gradient;
    a.second = static_cast<const float*>(second.value), a.second_gradient = second.gradient;
  }
  const std::int64_t slots = program.levels().capacity({c.level}) * a.heads * (a.fanout + 1);
  a.weights = program.memory().array<float>(slots);
  if (program.is_training()) {
    a.score_gradients = program.memory().array<float>(slots);
    if (!names.empty()) a.sums = program.memory().array<float>(entry_attention_sums_size(part));
  }
  program.add([&program, a, level = c.level](
                  const StepRun& run) { entry_attention_forward(a, entry_rows(program, level, run), run.stream); },
              [&program, a, gradient = c.z.gradient, level = c.level](const StepRun& run) {
                entry_attention_backward(a, entry_rows(program, level, run), gradient, run.stream);
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

Matrix add_entry_attention(StepProgram& program, const Convolution& c) {
  if (c.input && !c.passes_z)  // behind the gradients of both maps
    program.add([](const StepRun&) {}, [&program, c](const StepRun& run) { add_to_input_gradient(program, c, run); });
  const Values input = c.input ? c.input->rows : add_features(program, c);
  Maps maps = maps_of(c.layer);
  const std::int64_t part = padded(c.layer.out);
  const auto add = [&](const std::vector<LinearMap>& of, RowCount height, const Matrix& gradient) {
    const Values result = values_of(program, height, part * static_cast<std::int64_t>(of.size()));
    add_maps(program, of, input.value, c.input ? std::optional(gradient) : std::nullopt, result);
    return result;
  };
  maps.entries = add(maps.of_entries, height_of_l(program, c.level), input.gradient);
  if (!maps.of_own.empty()) maps.own = add(maps.of_own, {c.level}, c.input ? c.input->by_own : Matrix{});
  const bool is_v2 = c.layer.attention->kind == AttentionKind::kGatv2 && c.layer.attention->heads == 1;
  is_v2 ? add_attention_v2(program, c, maps) : add_attention_of_heads(program, c, maps);
  if (!c.wants_own_features) return {};
  Matrix own = input.value;  // they come first
  own.height = {c.level};
  return own;
}

}  // namespace salient
