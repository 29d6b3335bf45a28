// models/num_parameters.cpp - the dimensions of each model's layers, multiplied.
#include "models/num_parameters.h"

namespace salient {
namespace {

std::int64_t linear(std::int64_t in, std::int64_t out) { return in * out + out; }  // with a bias
std::int64_t norm(std::int64_t dim) { return 2 * dim; }

/// One convolution of a ConvStack.
std::int64_t convolution(ModelKind kind, std::int64_t in, std::int64_t out) {
  using enum ModelKind;
  if (kind == kGat) return in * out + 2 * out;                              // lin; att_src, att_dst
  if (kind == kGatv2) return 2 * linear(in, out) + 2 * out;                 // lin_l, lin_r; att, bias
  if (kind == kGcn) return linear(in, out);                                 // lin; bias
  if (kind == kGin) return linear(in, out) + norm(out) + linear(out, out);  // nn.0, nn.1, nn.3
  return 2 * in * out;                                                      // sage: lin_l, lin_r
}

std::int64_t sage_ri(const ModelOptions& o) {
  const std::int64_t in = o.in_dim, hidden = o.hidden_dim, classes = o.num_classes;
  std::int64_t sum = linear(in, hidden);  // res_linears.0
  for (int i = 0; i < o.num_layers; ++i)
    sum += convolution(ModelKind::kSage, i == 0 ? in : hidden, hidden) + norm(hidden);
  return sum + linear(in + hidden * o.num_layers, 2 * classes) + norm(2 * classes) + linear(2 * classes, classes);
}

std::int64_t conv_stack(const ModelOptions& o) {
  const std::int64_t hidden = o.hidden_dim, classes = o.num_classes;
  const bool is_gin = o.kind == ModelKind::kGin,
             has_head = is_gin || o.jk != JumpingKnowledge::kNone;  // all layers are hidden then
  std::int64_t sum = 0;
  for (int i = 0; i < o.num_layers; ++i) {
    const bool is_hidden = has_head || i + 1 < o.num_layers;
    const std::int64_t in = i == 0 ? o.in_dim : hidden, out = is_hidden ? hidden : classes;
    sum += convolution(o.kind, in, out);
    if (is_hidden && o.norm != NormKind::kNone) sum += norm(out);
    if (is_hidden && o.residual && in != out) sum += linear(in, out);
  }
  const std::int64_t read_out = o.jk == JumpingKnowledge::kCat ? hidden * o.num_layers : hidden;
  if (is_gin) return sum + linear(read_out, hidden) + linear(hidden, classes);
  return has_head ? sum + linear(read_out, classes) : sum;
}

}  // namespace

std::int64_t num_parameters(const ModelOptions& options) {
  return options.kind == ModelKind::kSageRi ? sage_ri(options) : conv_stack(options);
}

}  // namespace salient
