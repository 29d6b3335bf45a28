// models/layers.cpp - linear maps and normalisation.
#include "models/layers.h"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "core/error.h"
#include "models/init.h"
#include "models/ops/linear.h"
#include "models/ops/sparse_rows.h"

namespace salient {

Linear::Linear(std::int64_t in_dim, std::int64_t out_dim, Bias bias, PygInit init) : init_(init) {
  weight_ = register_parameter("weight", at::empty({out_dim, in_dim}, at::kFloat));
  if (bias == Bias::kYes) bias_ = register_parameter("bias", at::empty({out_dim}, at::kFloat));
}

void Linear::initialise(const std::string& name, InitScheme scheme, std::uint32_t seed) {
  const std::int64_t fan_out = weight_.size(0), fan_in = weight_.size(1);
  const double bound = scheme == InitScheme::kPyg && init_ == PygInit::kGlorot ? glorot_bound(fan_in, fan_out)
                                                                               : bound_of(scheme, fan_in, fan_out);
  fill_uniform(weight_.detach(), name + ".weight", bound, seed);
  if (bias_.defined()) fill_uniform(bias_.detach(), name + ".bias", bound_of(InitScheme::kPyg, fan_in, fan_out), seed);
}

at::Tensor Linear::forward(const InputRows& x) const {
  return x.is_sparse() ? with_bias(product(x)) : linear(x.dense(), weight_, bias_, numerics().precision);
}

at::Tensor Linear::product(const InputRows& x) const {
  return x.is_sparse() ? sparse_linear(x.sparse(), weight_) : linear(x.dense(), weight_, {}, numerics().precision);
}

at::Tensor Linear::forward(const InputRows& first, const at::Tensor& rest) const {
  if (!first.is_sparse()) return forward(at::cat({first.dense().to(at::kFloat), rest}, 1));
  const std::int64_t columns = first.sparse().num_columns;
  return sparse_linear(first.sparse(), weight_.narrow(1, 0, columns)) +
         linear(rest, weight_.narrow(1, columns, rest.size(1)), bias_, numerics().precision);
}

at::Tensor Linear::with_bias(const at::Tensor& y) const { return bias_.defined() ? y + bias_ : y; }

Norm::Norm(std::int64_t dim)
    : weight_(register_parameter("weight", at::ones({dim}))), bias_(register_parameter("bias", at::zeros({dim}))) {}

std::shared_ptr<Norm> make_norm(NormKind kind, std::int64_t dim) {
  require(kind != NormKind::kNone, "a norm is batch or layer");
  if (kind == NormKind::kBatch) return std::make_shared<BatchNorm>(dim);
  return std::make_shared<LayerNorm>(dim);
}

BatchNorm::BatchNorm(std::int64_t dim) : Norm(dim) {
  running_mean_ = register_buffer("running_mean", at::zeros({dim}));
  running_var_ = register_buffer("running_var", at::ones({dim}));
  num_batches_tracked_ = register_buffer("num_batches_tracked", at::zeros({}, at::kLong));
}

at::Tensor BatchNorm::forward(const at::Tensor& x) {
  const bool uses_batch = is_training() && x.size(0) >= 2;
  if (uses_batch) num_batches_tracked_.add_(1);
  return at::batch_norm(x, weight_, bias_, running_mean_, running_var_, uses_batch, /*momentum=*/0.1, /*eps=*/1e-5,
                        /*cudnn_enabled=*/false);
}

at::Tensor LayerNorm::forward(const at::Tensor& x) {
  return at::layer_norm(x, {x.size(1)}, weight_, bias_, /*eps=*/1e-5);
}

}  // namespace salient
