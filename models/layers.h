// models/layers.h - the dense building blocks, with the parameter names of torch and PyG.
// By hand, as torch::nn's initialise from torch's generator and compute in one precision for the whole process.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "models/input_rows.h"
#include "models/numerics.h"

namespace salient {

/// A module that has parameters of its own, knows how to fill them and in which precision it computes.
class ParameterOwner : public torch::nn::Module {
 public:
  /// @param name    this module's name in its model: "convs.0.lin_l"
  /// Determinism: (name, scheme, seed) alone
  virtual void initialise(const std::string& name, InitScheme scheme, std::uint32_t seed) = 0;

  /// make_model() sets the same for all parts of a model.
  void set_numerics(const Numerics& numerics) { numerics_ = numerics; }

 protected:
  const Numerics& numerics() const { return numerics_; }

 private:
  Numerics numerics_{};
};

enum class Bias : std::uint8_t { kNo, kYes };
enum class PygInit : std::uint8_t { kFanIn, kGlorot };  ///< what PyG does with the weight: most layers | attention's

/// y = x W^T + b, with parameters `weight` [out, in] and, if asked for, `bias` [out].
class Linear : public ParameterOwner {
 public:
  Linear(std::int64_t in_dim, std::int64_t out_dim, Bias bias, PygInit init = PygInit::kFanIn);
  void initialise(const std::string& name, InitScheme scheme, std::uint32_t seed) override;

  /// @param x  [rows, in] f32, f16, which is converted, or sparse
  at::Tensor forward(const InputRows& x) const;
  /// x W^T, without the bias.
  at::Tensor product(const InputRows& x) const;
  /// forward() of (first | rest).
  at::Tensor forward(const InputRows& first, const at::Tensor& rest) const;
  /// y + b, of a product().
  at::Tensor with_bias(const at::Tensor& y) const;
  const at::Tensor& weight() const { return weight_; }
  const at::Tensor& bias() const { return bias_; }  ///< undefined without one

 private:
  PygInit init_;
  at::Tensor weight_;
  at::Tensor bias_;  ///< undefined without one
};

/// Brings rows or columns to mean 0 and variance 1, then scales and shifts each column by its parameters `weight` and
/// `bias` [dim].
class Norm : public ParameterOwner {
 public:
  void initialise(const std::string&, InitScheme, std::uint32_t) override {}  // 1 and 0 by any scheme
  virtual at::Tensor forward(const at::Tensor& x) = 0;                        ///< [rows, dim] f32

 protected:
  explicit Norm(std::int64_t dim);
  at::Tensor weight_, bias_;
};

/// @param kind  kBatch or kLayer
std::shared_ptr<Norm> make_norm(NormKind kind, std::int64_t dim);

/// Normalises each column over the rows of the batch; torch's BatchNorm1d.
///
/// Training uses, and mixes into the running statistics, the mean and variance of the rows of this rank. A batch of
/// less than two rows has no variance: as in evaluation, the running statistics are used, and stay as they are.
/// Algorithm: Ioffe and Szegedy (ICML 2015); momentum 0.1, epsilon 1e-5, unbiased running variance, as torch.
class BatchNorm : public Norm {
 public:
  explicit BatchNorm(std::int64_t dim);
  at::Tensor forward(const at::Tensor& x) override;

 private:
  at::Tensor running_mean_, running_var_, num_batches_tracked_;
};

/// Normalises each row; torch's LayerNorm, the same in training and evaluation.
/// Algorithm: Ba, Kiros, Hinton (2016); epsilon 1e-5.
class LayerNorm : public Norm {
 public:
  explicit LayerNorm(std::int64_t dim) : Norm(dim) {}
  at::Tensor forward(const at::Tensor& x) override;
};

/// A module that only holds others, under names: what PyG has as ModuleDict.
class ModuleDict : public torch::nn::Module {
 public:
  template <class M>
  std::shared_ptr<M> add(const std::string& name, std::shared_ptr<M> module) {
    return register_module(name, std::move(module));
  }
};

/// A module that only holds others, under the names "0", "1", ... : what PyG's models call `convs`.
class ModuleList : public torch::nn::Module {
 public:
  template <class M>
  std::shared_ptr<M> add(std::shared_ptr<M> module) {
    return add_as(children().size(), std::move(module));
  }
  /// Under a number of its own: torch's Sequential also counts what has no parameters.
  template <class M>
  std::shared_ptr<M> add_as(std::size_t number, std::shared_ptr<M> module) {
    return register_module(std::to_string(number), std::move(module));
  }
};

}  // namespace salient
