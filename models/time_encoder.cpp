// models/time_encoder.cpp - see time_encoder.h.
#include "models/time_encoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"

namespace salient {

class TimeEncoder::Map : public ParameterOwner {
 public:
  explicit Map(std::int64_t width) {
    weight_ = register_parameter("weight", at::empty({width, 1}));
    bias_ = register_parameter("bias", at::empty({width}));
  }

  void initialise(const std::string&, InitScheme, std::uint32_t) override {
    const std::int64_t width = bias_.numel(), last = std::max<std::int64_t>(1, (width - 1) / 2);
    for (std::int64_t i = 0; i < width; ++i) {
      const double step = static_cast<double>(i / 2) / static_cast<double>(last);
      weight_.mutable_data_ptr<float>()[i] = static_cast<float>(std::pow(10.0, -1 + 1.5 * step));
      bias_.mutable_data_ptr<float>()[i] = i % 2 == 0 ? 0.0F : static_cast<float>(-std::numbers::pi / 2);
    }
  }

  at::Tensor forward(const at::Tensor& gaps) const { return (gaps.unsqueeze(1) * weight_.t() + bias_).cos(); }

 private:
  at::Tensor weight_, bias_;
};

TimeEncoder::TimeEncoder(std::int64_t width) : lin_(register_module("lin", std::make_shared<Map>(width))) {}

HopView TimeEncoder::append_to(const HopView& hop) const {
  if (hop.indices.numel() == 0) return hop;
  require(hop.edge_gap.defined(), "a batch for this model carries how long ago edges were");
  const at::Tensor encoding = lin_->forward(hop.edge_gap);
  HopView with = hop;
  with.edge_x = hop.edge_x.defined() ? at::cat({hop.edge_x.to(at::kFloat), encoding}, 1) : encoding;
  return with;
}

}  // namespace salient
