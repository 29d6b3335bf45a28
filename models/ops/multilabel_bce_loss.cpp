// models/ops/multilabel_bce_loss.cpp - see multilabel_bce_loss.h.
#include "models/ops/multilabel_bce_loss.h"

#include <torch/csrc/autograd/custom_function.h>

#include <span>

#include "core/error.h"
#include "models/kernels/multilabel_bce_loss.h"
#include "models/ops/kernel_call.h"

namespace salient {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// The gradient is made with the loss; the backward pass scales it.
struct MultilabelBceLoss : Function<MultilabelBceLoss> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& logits, const at::Tensor& flags,
                            double label_smoothing, const at::Tensor& sums) {
    const BceTarget target = BceTarget::make(label_smoothing);
    const std::span<const float> values(pointer<float>(logits), static_cast<std::size_t>(logits.numel()));
    at::Tensor grad = make_f32(logits.sizes(), logits), loss = make_f32({}, logits);
    auto* const sums_out = static_cast<BceSums*>(sums.mutable_data_ptr());
    on_device_of(logits, [&](auto... stream) {
      if constexpr (sizeof...(stream) == 0) {
        *sums_out = multilabel_bce_loss(target, values, pointer<std::int8_t>(flags), grad.mutable_data_ptr<float>());
        *loss.mutable_data_ptr<float>() = static_cast<float>(sums_out->loss);
      } else {
        const at::Tensor partial = at::empty({std::int64_t{2} * kMultilabelBceBlocks}, sums.options());
        multilabel_bce_loss(target, values, pointer<std::int8_t>(flags),
                            {grad.mutable_data_ptr<float>(), static_cast<BceSums*>(partial.mutable_data_ptr()),
                             sums_out, loss.mutable_data_ptr<float>()},
                            stream...);
      }
    });
    ctx->save_for_backward({grad});
    return loss;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    return {ctx->get_saved_variables()[0].mul(grads[0]), {}, {}, {}};
  }
};

}  // namespace

at::Tensor multilabel_bce_loss_sum(const at::Tensor& logits, const at::Tensor& flags, double label_smoothing,
                                   const at::Tensor& sums) {
  static_assert(sizeof(BceSums) == 2 * sizeof(double), "sums are two doubles");
  require(logits.scalar_type() == at::kFloat && flags.scalar_type() == at::kChar, "logits are f32, flags int8");
  require(logits.sizes() == flags.sizes() && flags.is_contiguous(), "a flag for every logit");
  require(sums.scalar_type() == at::kDouble && sums.numel() == 2 && sums.is_contiguous(), "sums are two doubles");
  require(flags.device() == logits.device() && sums.device() == logits.device(),
          "logits, flags and sums are on one device");
  return MultilabelBceLoss::apply(logits.contiguous(), flags, label_smoothing, sums);
}

}  // namespace salient
