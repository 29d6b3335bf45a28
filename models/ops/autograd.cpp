// models/ops/autograd.cpp - every custom autograd function, in one file because their header takes 12 s to compile.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>
#if SALIENT_HAS_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

#include <atomic>

#include "core/error.h"
#include "models/kernels/attention.h"
#include "models/kernels/dropout.h"
#include "models/kernels/flag_loss.h"
#include "models/kernels/segment.h"
#include "models/ops/dropout.h"
#include "models/ops/flag_loss.h"
#include "models/ops/operators.h"
#include "models/precision.h"

namespace salient {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// ---- from tensors to pointers ----------------------------------------------------------------------------

template <class T>
const T* pointer(const at::Tensor& tensor) {
  return static_cast<const T*>(tensor.const_data_ptr());
}

HopEdges edges_of(const HopView& hop) {
  require(hop.indptr.scalar_type() == at::kInt && hop.indices.scalar_type() == at::kInt, "hops have int32 arrays");
  require(hop.indptr.is_contiguous() && hop.indices.is_contiguous(), "hops have contiguous arrays");
  require(hop.indptr.numel() == hop.num_dst + 1, "indptr has num_dst + 1 entries");
  return {pointer<LocalId>(hop.indptr), pointer<LocalId>(hop.indices), hop.num_dst, hop.num_src};
}

at::Tensor make_f32(at::IntArrayRef shape, const at::Tensor& like) {
  return at::empty(shape, at::TensorOptions().dtype(at::kFloat).device(like.device()));
}

/// Calls `f()` on the host, or `f(stream)` with the current stream of x's device.
template <class F>
void on_device_of(const at::Tensor& x, const F& f) {
  if (x.device().is_cpu()) return f();
#if SALIENT_HAS_CUDA
  const c10::cuda::CUDAGuard guard(x.device());
  f(c10::cuda::getCurrentCUDAStream(x.device().index()).stream());
#else
  require(false, "tensors are on the host: this is a CPU build");
#endif
}

std::atomic<bool> is_deterministic{false};

/// Calls `f()` on the host, or `f(stream)` on x's device, where the stream also carries the hop's edges by source if
/// gradients are to have a fixed order.
template <class F>
void on_device_backward(const at::Tensor& x, [[maybe_unused]] const HopView& hop, const F& f) {
  if (x.device().is_cpu()) return f();
#if SALIENT_HAS_CUDA
  const c10::cuda::CUDAGuard guard(x.device());
  CUstream_st* stream = c10::cuda::getCurrentCUDAStream(x.device().index()).stream();
  if (!is_deterministic) return f(BackwardStream(stream));
  const std::int64_t num_edges = hop.indices.numel();
  const std::size_t bytes = transpose_scratch_bytes(num_edges);
  const auto ids = [&](std::int64_t count) { return at::empty({count}, hop.indices.options()); };
  const at::Tensor indptr = ids(hop.num_src + 1), destination = ids(num_edges), edge = ids(num_edges),
                   keys = ids(num_edges), scratch = ids(static_cast<std::int64_t>(bytes / sizeof(LocalId) + 1));
  transpose(edges_of(hop), num_edges, indptr.mutable_data_ptr<LocalId>(), destination.mutable_data_ptr<LocalId>(),
            edge.mutable_data_ptr<LocalId>(), keys.mutable_data_ptr<LocalId>(), scratch.mutable_data_ptr(), bytes,
            stream);
  f(BackwardStream(stream, {pointer<LocalId>(indptr), pointer<LocalId>(destination), pointer<LocalId>(edge)}));
#endif
}

// ---- neighbour sums --------------------------------------------------------------------------------------

void require_rows(const at::Tensor& x, const HopView& hop) {
  require(x.dim() == 2 && x.size(0) >= hop.num_src && x.is_contiguous(), "x has one contiguous row per source");
  require(x.scalar_type() == at::kFloat || x.scalar_type() == at::kHalf, "x is f16 or f32");
  require(x.device() == hop.indptr.device(), "x and hop are on one device");
}

at::Tensor reduce_rows(const HopView& hop, Reduce reduce, const at::Tensor& x) {
  require_rows(x, hop);
  at::Tensor out = make_f32({hop.num_dst, x.size(1)}, x);
  on_device_of(x, [&](auto... stream) {
    const auto run = [&](const auto* rows) {
      segment_reduce(edges_of(hop), reduce, rows, x.size(1), out.mutable_data_ptr<float>(), stream...);
    };
    x.scalar_type() == at::kHalf ? run(pointer<Half>(x)) : run(pointer<float>(x));
  });
  return out;
}

/// @return  [num_rows, width] f32; rows from num_src on are 0
at::Tensor reduce_rows_backward(const HopView& hop, Reduce reduce, const at::Tensor& grad, std::int64_t num_rows) {
  const at::Tensor grad_out = grad.contiguous();
  at::Tensor grad_x = make_f32({num_rows, grad_out.size(1)}, grad_out);
  if (num_rows > hop.num_src) grad_x.slice(0, hop.num_src).zero_();
  on_device_backward(grad_x, hop, [&](const auto&... stream) {
    segment_reduce_backward(edges_of(hop), reduce, pointer<float>(grad_out), grad_out.size(1),
                            grad_x.mutable_data_ptr<float>(), stream...);
  });
  return grad_x;
}

struct SegmentReduce : Function<SegmentReduce> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const HopView& hop, Reduce reduce) {
    ctx->saved_data["num_rows"] = x.size(0);
    ctx->saved_data["num_src"] = hop.num_src;
    ctx->saved_data["reduce"] = static_cast<std::int64_t>(reduce);
    ctx->save_for_backward({hop.indptr, hop.indices});
    return reduce_rows(hop, reduce, x);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const HopView hop{saved[0].numel() - 1, ctx->saved_data["num_src"].toInt(), saved[0], saved[1]};
    const auto reduce = static_cast<Reduce>(ctx->saved_data["reduce"].toInt());
    return {reduce_rows_backward(hop, reduce, grads[0], ctx->saved_data["num_rows"].toInt()), {}, {}};
  }
};

/// y = mean(x) W_l^T + x_self W_r^T as one node of the graph: its gradient of x is built in one array, where a mean, a
/// slice and two maps would make, pad and add three.
struct SageConvolution : Function<SageConvolution> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const HopView& hop, const at::Tensor& weight_l,
                            const at::Tensor& weight_r) {
    const at::Tensor mean = reduce_rows(hop, Reduce::kMean, x), self = x.narrow(0, 0, hop.num_dst);
    at::Tensor y = product(mean, weight_l.t());
    add_product(y, self, weight_r.t());
    ctx->saved_data["num_rows"] = x.size(0);
    ctx->saved_data["num_src"] = hop.num_src;
    ctx->save_for_backward({mean, self, weight_l, weight_r, hop.indptr, hop.indices});
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &mean = saved[0], &self = saved[1], &weight_l = saved[2], &weight_r = saved[3];
    const HopView hop{mean.size(0), ctx->saved_data["num_src"].toInt(), saved[4], saved[5]};
    const at::Tensor& grad = grads[0];
    at::Tensor grad_x;
    if (ctx->needs_input_grad(0)) {
      grad_x = reduce_rows_backward(hop, Reduce::kMean, product(grad, weight_l), ctx->saved_data["num_rows"].toInt());
      add_product(grad_x.narrow(0, 0, hop.num_dst), grad, weight_r);
    }
    return {grad_x, {}, product(grad.t(), mean), product(grad.t(), self)};
  }
};

struct SegmentMax : Function<SegmentMax> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const HopView& hop) {
    require_rows(x, hop);
    at::Tensor out = make_f32({hop.num_dst, x.size(1)}, x), winner = at::empty(out.sizes(), hop.indices.options());
    on_device_of(x, [&](auto... stream) {
      const auto run = [&](const auto* rows) {
        segment_max(edges_of(hop), rows, x.size(1), out.mutable_data_ptr<float>(), winner.mutable_data_ptr<LocalId>(),
                    stream...);
      };
      x.scalar_type() == at::kHalf ? run(pointer<Half>(x)) : run(pointer<float>(x));
    });
    ctx->saved_data["num_rows"] = x.size(0);
    ctx->saved_data["num_src"] = hop.num_src;
    ctx->save_for_backward({hop.indptr, hop.indices, winner});
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const HopView hop{saved[0].numel() - 1, ctx->saved_data["num_src"].toInt(), saved[0], saved[1]};
    const at::Tensor grad_out = grads[0].contiguous();
    at::Tensor grad_x = make_f32({ctx->saved_data["num_rows"].toInt(), grad_out.size(1)}, grad_out);
    grad_x.slice(0, hop.num_src).zero_();
    on_device_backward(grad_x, hop, [&](const auto&... stream) {
      segment_max_backward(edges_of(hop), pointer<LocalId>(saved[2]), pointer<float>(grad_out), grad_out.size(1),
                           grad_x.mutable_data_ptr<float>(), stream...);
    });
    return {grad_x, at::Tensor()};
  }
};

// ---- attention -------------------------------------------------------------------------------------------

struct Attention : Function<Attention> {
  static constexpr float kSlope = 0.2f;

  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& z, const at::Tensor& score_src,
                            const at::Tensor& score_dst, const HopView& hop) {
    const std::int64_t heads = score_src.size(1);
    require(z.dim() == 2 && z.size(0) == hop.num_src && z.size(1) % heads == 0, "z has one row per source");
    require(score_src.size(0) == hop.num_src && score_dst.size(0) == hop.num_dst && score_dst.size(1) == heads,
            "scores have one row per source, and per destination");
    require(z.device() == hop.indptr.device(), "z and hop are on one device");
    const at::Tensor rows = z.contiguous(), src = score_src.contiguous(), dst = score_dst.contiguous();
    at::Tensor weights = make_f32({num_slots(hop.indices.numel(), hop.num_dst), heads}, z);
    at::Tensor out = make_f32({hop.num_dst, z.size(1)}, z);
    on_device_of(z, [&](auto... stream) {
      const HopEdges edges = edges_of(hop);
      auto* slots = weights.mutable_data_ptr<float>();
      gat_logits(edges, heads, kSlope, pointer<float>(src), pointer<float>(dst), slots, stream...);
      slot_softmax(edges, heads, slots, stream...);
      slot_sum(edges, {heads, z.size(1) / heads}, slots, pointer<float>(rows), out.mutable_data_ptr<float>(),
               stream...);
    });
    ctx->save_for_backward({rows, src, dst, weights, hop.indptr, hop.indices});
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &z = saved[0], &src = saved[1], &dst = saved[2], &weights = saved[3];
    const HopView hop{dst.size(0), z.size(0), saved[4], saved[5]};
    const Heads shape{src.size(1), z.size(1) / src.size(1)};
    const at::Tensor grad_out = grads[0].contiguous();
    at::Tensor grad_z = make_f32(z.sizes(), z), grad_src = make_f32(src.sizes(), z),
               grad_dst = make_f32(dst.sizes(), z);
    at::Tensor grad_slots = make_f32(weights.sizes(), z);
    on_device_backward(z, hop, [&](const auto&... stream) {
      const HopEdges edges = edges_of(hop);
      auto* slots = grad_slots.mutable_data_ptr<float>();
      slot_sum_backward(edges, shape, pointer<float>(weights), pointer<float>(z), pointer<float>(grad_out), slots,
                        grad_z.mutable_data_ptr<float>(), stream...);
      slot_softmax_backward(edges, shape.heads, pointer<float>(weights), slots, stream...);
      gat_logits_backward(edges, shape.heads, kSlope, pointer<float>(src), pointer<float>(dst), slots,
                          grad_src.mutable_data_ptr<float>(), grad_dst.mutable_data_ptr<float>(), stream...);
    });
    return {grad_z, grad_src, grad_dst, at::Tensor()};
  }
};

/// The logits of GATv2; what follows them is as for GAT.
struct AttentionV2 : Function<AttentionV2> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& z_src, const at::Tensor& z_dst,
                            const at::Tensor& att, const HopView& hop) {
    const Heads shape{att.size(0), att.size(1)};
    require(z_src.dim() == 2 && z_src.size(0) == hop.num_src && z_src.size(1) == shape.width(),
            "z_src has one row per source");
    require(z_dst.dim() == 2 && z_dst.size(0) == hop.num_dst && z_dst.size(1) == shape.width(),
            "z_dst has one row per destination");
    require(z_src.device() == hop.indptr.device(), "z_src and hop are on one device");
    const at::Tensor src = z_src.contiguous(), dst = z_dst.contiguous(), vectors = att.contiguous();
    at::Tensor weights = make_f32({num_slots(hop.indices.numel(), hop.num_dst), shape.heads}, z_src);
    at::Tensor out = make_f32(z_dst.sizes(), z_src);
    on_device_of(z_src, [&](auto... stream) {
      const HopEdges edges = edges_of(hop);
      auto* slots = weights.mutable_data_ptr<float>();
      gatv2_logits(edges, shape, Attention::kSlope, pointer<float>(src), pointer<float>(dst), pointer<float>(vectors),
                   slots, stream...);
      slot_softmax(edges, shape.heads, slots, stream...);
      slot_sum(edges, shape, slots, pointer<float>(src), out.mutable_data_ptr<float>(), stream...);
    });
    ctx->save_for_backward({src, dst, vectors, weights, hop.indptr, hop.indices});
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &src = saved[0], &dst = saved[1], &att = saved[2], &weights = saved[3];
    const HopView hop{dst.size(0), src.size(0), saved[4], saved[5]};
    const Heads shape{att.size(0), att.size(1)};
    const at::Tensor grad_out = grads[0].contiguous();
    at::Tensor grad_values = make_f32(src.sizes(), src), grad_src = make_f32(src.sizes(), src);
    at::Tensor grad_dst = make_f32(dst.sizes(), src), grad_slots = make_f32(weights.sizes(), src);
    at::Tensor grad_att = make_f32({num_parts(hop.num_dst), shape.heads, shape.channels}, src);
    on_device_backward(src, hop, [&](const auto&... stream) {
      const HopEdges edges = edges_of(hop);
      auto* slots = grad_slots.mutable_data_ptr<float>();
      slot_sum_backward(edges, shape, pointer<float>(weights), pointer<float>(src), pointer<float>(grad_out), slots,
                        grad_values.mutable_data_ptr<float>(), stream...);
      slot_softmax_backward(edges, shape.heads, pointer<float>(weights), slots, stream...);
      gatv2_logits_backward(edges, shape, Attention::kSlope, pointer<float>(src), pointer<float>(dst),
                            pointer<float>(att), slots, grad_src.mutable_data_ptr<float>(),
                            grad_dst.mutable_data_ptr<float>(), grad_att.mutable_data_ptr<float>(), stream...);
    });
    return {grad_src.add_(grad_values), grad_dst, grad_att.sum(0), at::Tensor()};
  }
};

// ---- dropout ---------------------------------------------------------------------------------------------

at::Tensor apply_dropout(const at::Tensor& x, const at::Tensor& nodes, const DropoutMask& mask, Activation activation) {
  at::Tensor out = make_f32(x.sizes(), x);
  on_device_of(x, [&](auto... stream) {
    dropout(mask, activation, pointer<float>(x), pointer<std::uint32_t>(nodes), x.size(0), x.size(1),
            out.mutable_data_ptr<float>(), stream...);
  });
  return out;
}

struct Dropout : Function<Dropout> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& nodes, double p,
                            std::int64_t seed, std::int64_t step, std::int64_t layer) {
    ctx->save_for_backward({nodes});
    ctx->saved_data["p"] = p;
    ctx->saved_data["key"] = std::vector<std::int64_t>{seed, step, layer};
    return apply_dropout(x, nodes, mask_of(ctx), Activation::kNone);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::Tensor nodes = ctx->get_saved_variables()[0];
    return {apply_dropout(grads[0].contiguous(), nodes, mask_of(ctx), Activation::kNone), {}, {}, {}, {}, {}};
  }
  static DropoutMask mask_of(AutogradContext* ctx) {
    const auto key = ctx->saved_data["key"].toIntVector();
    return DropoutMask::make(ctx->saved_data["p"].toDouble(), static_cast<std::uint32_t>(key[0]),
                             static_cast<std::uint32_t>(key[1]), static_cast<std::uint32_t>(key[2]));
  }
};

struct ReluDropout : Function<ReluDropout> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& nodes,
                            const DropoutMask& mask) {
    at::Tensor out = apply_dropout(x, nodes, mask, Activation::kRelu);
    ctx->saved_data["scale"] = static_cast<double>(mask.scale);
    ctx->save_for_backward({out});
    return out;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::Tensor out = ctx->get_saved_variables()[0];  // above 0 exactly where x was, and the mask kept it
    const at::Tensor grad_out = grads[0].contiguous();
    at::Tensor grad_x = make_f32(out.sizes(), out);
    on_device_of(out, [&](auto... stream) {
      scale_where_positive(pointer<float>(out), pointer<float>(grad_out),
                           static_cast<float>(ctx->saved_data["scale"].toDouble()), out.numel(),
                           grad_x.mutable_data_ptr<float>(), stream...);
    });
    return {grad_x, {}, {}};
  }
};

at::Tensor rows_to_drop(const at::Tensor& x, const DropoutKey& key) {
  require(x.dim() == 2, "dropout works on a matrix");
  require(key.nodes.scalar_type() == at::kInt && key.nodes.is_contiguous(), "the dropout key's nodes are int32");
  require(key.nodes.device() == x.device() && key.nodes.numel() >= x.size(0), "the dropout key names every row of x");
  return x.to(at::kFloat).contiguous();
}

// ---- loss ------------------------------------------------------------------------------------------------

/// The gradient is made with the loss; the backward pass scales it.
struct FlagLoss : Function<FlagLoss> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& logits, const at::Tensor& flags,
                            double label_smoothing, const at::Tensor& sums) {
    const FlagTarget target = FlagTarget::make(label_smoothing);
    const std::span<const float> values(pointer<float>(logits), static_cast<std::size_t>(logits.numel()));
    at::Tensor grad = make_f32(logits.sizes(), logits), loss = make_f32({}, logits);
    auto* const sums_out = static_cast<FlagSums*>(sums.mutable_data_ptr());
    on_device_of(logits, [&](auto... stream) {
      if constexpr (sizeof...(stream) == 0) {
        *sums_out = flag_loss(target, values, pointer<std::int8_t>(flags), grad.mutable_data_ptr<float>());
        *loss.mutable_data_ptr<float>() = static_cast<float>(sums_out->loss);
      } else {
        const at::Tensor partial = at::empty({std::int64_t{2} * kFlagLossBlocks}, sums.options());
        flag_loss(target, values, pointer<std::int8_t>(flags), grad.mutable_data_ptr<float>(),
                  static_cast<FlagSums*>(partial.mutable_data_ptr()), sums_out, loss.mutable_data_ptr<float>(),
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

at::Tensor flag_loss_sum(const at::Tensor& logits, const at::Tensor& flags, double label_smoothing,
                         const at::Tensor& sums) {
  static_assert(sizeof(FlagSums) == 2 * sizeof(double), "sums are two doubles");
  require(logits.scalar_type() == at::kFloat && flags.scalar_type() == at::kChar, "logits are f32, flags int8");
  require(logits.sizes() == flags.sizes() && flags.is_contiguous(), "a flag for every logit");
  require(sums.scalar_type() == at::kDouble && sums.numel() == 2 && sums.is_contiguous(), "sums are two doubles");
  require(flags.device() == logits.device() && sums.device() == logits.device(),
          "logits, flags and sums live together");
  return FlagLoss::apply(logits.contiguous(), flags, label_smoothing, sums);
}

at::Tensor segment_mean(const HopView& hop, const at::Tensor& x) { return SegmentReduce::apply(x, hop, Reduce::kMean); }

at::Tensor segment_sum(const HopView& hop, const at::Tensor& x) { return SegmentReduce::apply(x, hop, Reduce::kSum); }

at::Tensor sage_convolution(const HopView& hop, const at::Tensor& x, const at::Tensor& weight_l,
                            const at::Tensor& weight_r) {
  return SageConvolution::apply(x, hop, weight_l, weight_r);
}

at::Tensor segment_max(const HopView& hop, const at::Tensor& x) { return SegmentMax::apply(x, hop); }

void set_deterministic(bool wanted) { is_deterministic = wanted; }

at::Tensor attention(const HopView& hop, const at::Tensor& z, const at::Tensor& score_src,
                     const at::Tensor& score_dst) {
  return Attention::apply(z, score_src, score_dst, hop);
}

at::Tensor attention_v2(const HopView& hop, const at::Tensor& z_src, const at::Tensor& z_dst, const at::Tensor& att) {
  return AttentionV2::apply(z_src, z_dst, att, hop);
}

at::Tensor node_dropout(const at::Tensor& x, double p, const DropoutKey& key, std::uint32_t layer) {
  if (p == 0) return x.to(at::kFloat);
  return Dropout::apply(rows_to_drop(x, key), key.nodes, p, std::int64_t{key.seed}, std::int64_t{key.step},
                        std::int64_t{layer});
}

at::Tensor relu_dropout(const at::Tensor& x, double p, const DropoutKey& key, std::uint32_t layer) {
  return ReluDropout::apply(rows_to_drop(x, key), key.nodes, DropoutMask::make(p, key.seed, key.step, layer));
}

}  // namespace salient
