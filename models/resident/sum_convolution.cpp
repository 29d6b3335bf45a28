// models/resident/sum_convolution.cpp - convolutions that are a sum over neighbours, then products: sage's, gcn's and
// gin's.
//
//   rows --- sum --> operand --- map --> z;  of gin  --- nn.0 --> --- norm, relu --> --- nn.3 --> z
#include <utility>
#include <vector>

#include "core/error.h"
#include "models/resident/convolutions.h"

namespace salient {
namespace {

/// What the maps multiply, and its gradient, which the features have none of.
struct Operand {
  Matrix value;
  std::optional<Matrix> gradient{};
};

/// Columns of the mean of the features of edges, behind the sum and the own rows.
std::int64_t edge_width(const StepProgram& program, const Convolution& c) {
  return c.layer.edge_sum ? padded(program.list().edge_dim) : 0;
}

/// Columns of the sum with those behind it: the map of a sum alone, and that of a residual connection, may have a bias.
std::int64_t sum_width(const Convolution& c) {
  return padded(c.layer.in + (!c.layer.is_joined || c.has_residual_within() ? 1 : 0));
}

/// (sum | 1), or (sum, 1 | own rows) for maps of both, and behind these the means of edges.
Operand add_sum(StepProgram& program, const Convolution& c, const Matrix& own_features) {
  const StackLayer& layer = c.layer;
  require(layer.sum.has_value(), "a convolution has a sum or attention");
  const std::int64_t of_nodes = (layer.is_joined ? 2 : 1) * sum_width(c), width = of_nodes + edge_width(program, c);
  const float* const eps = layer.sum->eps.empty() ? nullptr : program.value(layer.sum->eps);
  const SumRule rule = program.sum_rule(layer.sum->kind, eps);
  const bool is_ahead = !c.input || layer.edge_sum;
  Operand operand{is_ahead ? program.matrix_ahead({c.level}, width) : program.matrix({c.level}, width)};
  NeighbourSum sum = program.sum_with_ones(rule, operand.value);
  sum.has_own_part = layer.is_joined;
  sum.has_ones = !layer.is_joined || c.has_residual_within();
  sum.num_others = width - of_nodes;
  if (layer.edge_sum) program.add_edge_means(c.level, operand.value, of_nodes);
  if (!c.input) {
    program.add_first_sum(sum, operand.value, own_features);
    return operand;
  }
  operand.gradient = program.gradient({c.level}, width);
  program.add_hidden_sum(sum, operand.value,
                         {.level = c.level,
                          .z = c.input->rows.value,
                          .z_gradient = c.input->rows.gradient,
                          .gradient = operand.gradient->data,
                          .is_activated = !c.passes_z,
                          .dropout = c.input->dropout,
                          .self = c.input->residual,
                          .seeds = c.input->jumping});
  return operand;
}

/// One product with the weights side by side: lin_l of the sum, of own rows lin_r with the residual connection's, and
/// lin_edge of edges.
void add_joined_map(StepProgram& program, const Convolution& c, const Operand& operand) {
  const std::int64_t in = c.layer.in;
  std::vector<WeightPart> parts{{c.layer.maps[0].weight, in, 0}, {c.layer.maps[1].weight, in, sum_width(c)}};
  if (c.has_residual_within()) {
    parts[1].addend = c.layer.residual->weight;
    parts.push_back({c.layer.residual->bias, 1, in});
  }
  if (c.layer.edge_sum) parts.push_back({c.layer.maps[2].weight, c.layer.maps[2].in, 2 * sum_width(c)});
  program.add({.input = operand.value,
               .output = c.z.value,
               .output_gradient = c.z.gradient,
               .input_gradient = operand.gradient,
               .out_dim = c.layer.out,
               .parts = std::move(parts)});
}

}  // namespace

Matrix add_sum_convolution(StepProgram& program, const Convolution& c) {
  const StackLayer& layer = c.layer;
  const Matrix own_features = c.wants_own_features ? program.matrix_ahead({c.level}, padded(layer.in + 1)) : Matrix{};
  const Operand operand = add_sum(program, c, own_features);
  if (layer.is_joined) {
    add_joined_map(program, c, operand);
  } else if (layer.inner_norm.empty()) {
    require(layer.maps.size() == 1, "a sum has one map behind it, or two with a norm between them");
    add_map(program, layer.maps[0], operand.value, operand.gradient, c.z);
  } else {
    const std::int64_t width = layer.maps[0].out;
    const Values first = values_of(program, {c.level}, width),
                 second = values_of(program, {c.level}, padded(width + 1));
    add_normed_map(
        program, linear_of({&layer.maps[0], 1}, operand.value, operand.gradient, first),
        c.input ? std::nullopt : std::optional(layer.in),
        {.level = c.level, .norm = {.kind = NormKind::kBatch, .name = layer.inner_norm}, .z = first, .out = second});
    add_map(program, layer.maps[1], second.value, second.gradient, c.z);
  }
  return own_features;
}

}  // namespace salient
