// models/layers.h - the dense building blocks, with PyG's parameter names.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace salient {

enum class Bias : std::uint8_t { kNo, kYes };

/// y = x W^T + b, with parameters `weight` [out, in] and, if asked for, `bias` [out]. Uninitialised: see init_model().
class Linear : public torch::nn::Module {
 public:
  Linear(std::int64_t in_dim, std::int64_t out_dim, Bias bias);
  /// @param x  [rows, in] f32 or f16, which is converted
  at::Tensor forward(const at::Tensor& x) const;

  at::Tensor weight;
  at::Tensor bias;  ///< undefined without one
};

/// A module that only holds others, under the names "0", "1", ... : what PyG's models call `convs`.
class ModuleList : public torch::nn::Module {
 public:
  template <class M>
  std::shared_ptr<M> add(std::shared_ptr<M> module) {
    return register_module(std::to_string(children().size()), std::move(module));
  }
};

}  // namespace salient
