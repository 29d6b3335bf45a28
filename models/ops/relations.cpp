// models/ops/relations.cpp - see relations.h.
#include "models/ops/relations.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

#include "core/error.h"
#include "models/kernels/filled_rows.h"
#include "models/kernels/row_moves.h"
#include "models/ops/kernel_call.h"
#include "models/ops/linear.h"
#include "models/ops/saved_order.h"
#include "models/ops/segment.h"
#include "models/products/grouped_product.h"

namespace salient {
namespace {

/// y[place[i]] = values[i] for places 0 .. n - 1, each once.
at::Tensor placed(const at::Tensor& place, const at::Tensor& values) {
  return at::empty(place.sizes(), values.options()).scatter_(0, place.to(at::kLong), values);
}

/// Calls `f()` on the host, or f(scratch, its bytes, stream) on the hop's device, for scans over so many rows.
template <class F>
void with_scan_scratch(const HopView& hop, std::int64_t num_rows, const F& f) {
  on_device_of(hop.indptr, [&](auto... stream) {
    if constexpr (sizeof...(stream) == 0) {
      f();
    } else {
      const std::size_t bytes = filled_rows_scratch_bytes(num_rows);
      const at::Tensor scratch = at::empty({static_cast<std::int64_t>(bytes)}, hop.indptr.options().dtype(at::kByte));
      f(scratch.mutable_data_ptr(), bytes, stream...);
    }
  });
}

at::Tensor counted(const at::Tensor& like) { return at::arange(like.numel(), like.options()); }

}  // namespace

FilledRows::FilledRows(const HopView& hop) {
  require(hop.typed.has_value(), "a hop of a typed graph");
  const TypedHop& typed = *hop.typed;
  const SlotRows rows{pointer<LocalId>(hop.indptr),    pointer<LocalId>(typed.row_begin),
                      pointer<LocalId>(typed.row_dst), pointer<LocalId>(typed.relation_rows),
                      hop.indptr.numel() - 1,          hop.num_dst,
                      typed.relation_rows.numel()};
  const auto made = [&](std::int64_t count) { return at::empty({count}, hop.indptr.options()); };
  const std::int64_t num_filled = rows.num_filled;
  const at::Tensor filled_before = made(rows.num_rows + 1), indptr = made(num_filled + 1),
                   dst_indptr = made(hop.num_dst + 1);
  dst = made(num_filled), dst_by_relation = made(num_filled), in_hop = made(num_filled), by_relation = made(num_filled);
  const auto ids = [](const at::Tensor& tensor) { return tensor.mutable_data_ptr<LocalId>(); };
  const FilledRowArrays to{ids(filled_before), ids(indptr),      ids(dst),       ids(dst_by_relation),
                           ids(in_hop),        ids(by_relation), ids(dst_indptr)};
  with_scan_scratch(hop, rows.num_rows, [&](auto... scratch) { find_filled_rows(rows, to, scratch...); });
  entries = {num_filled, hop.num_src, indptr, hop.indices};
  of_destination = {hop.num_dst, num_filled, dst_indptr, by_relation};
}

HopView in_relation_order(const HopView& hop) {
  require(hop.typed.has_value(), "a hop of a typed graph");
  const at::Tensor& rows = hop.typed->relation_rows;
  const RowOrder order{pointer<LocalId>(hop.indptr), pointer<LocalId>(hop.indices), pointer<LocalId>(rows),
                       rows.numel()};
  const at::Tensor indptr = at::empty({order.num_rows + 1}, rows.options()), indices = at::empty_like(hop.indices);
  with_scan_scratch(hop, order.num_rows, [&](auto... scratch) {
    reorder_rows(order, indptr.mutable_data_ptr<LocalId>(), indices.mutable_data_ptr<LocalId>(), scratch...);
  });
  return {order.num_rows, hop.num_src, indptr, indices};
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct MeansAndOwnRows : Function<MeansAndOwnRows> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& x, const HopView& ordered, std::int64_t num_own,
                               GradientOrder order) {
    ctx->set_materialize_grads(false);
    ctx->saved_data["num_rows"] = x.size(0);
    ctx->saved_data["num_src"] = ordered.num_src;
    save_order(ctx, order);
    ctx->save_for_backward({ordered.indptr, ordered.indices});
    return {reduce_rows(ordered, Reduce::kMean, x), x.narrow(0, 0, num_own)};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const HopView hop{saved[0].numel() - 1, ctx->saved_data["num_src"].toInt(), saved[0], saved[1]};
    const at::Tensor &means = grads[0], &own = grads[1], &some = means.defined() ? means : own;
    const std::int64_t num_rows = ctx->saved_data["num_rows"].toInt();
    at::Tensor grad_x = means.defined() ? reduce_rows_backward(hop, Reduce::kMean, means, num_rows, order_of(ctx))
                                        : at::zeros({num_rows, some.size(1)}, some.options());
    if (own.defined()) grad_x.narrow(0, 0, own.size(0)).add_(own);
    return {grad_x, {}, {}, {}};
  }
};

/// f(group, block, rows of the group's part of a matrix) for all that have rows.
template <class F>
void for_each_block(const std::vector<std::int64_t>& begin, std::int64_t num_blocks, const F& f) {
  for (std::size_t g = 0; g + 1 < begin.size(); ++g) {
    const std::int64_t first = begin[g], count = begin[g + 1] - begin[g];
    if (count == 0) continue;
    for (std::int64_t b = 0; b < num_blocks; ++b)
      f(static_cast<std::int64_t>(g), b, [&](const at::Tensor& matrix) {
        const std::int64_t width = matrix.size(1) / num_blocks;
        return matrix.narrow(0, first, count).narrow(1, b * width, width);
      });
  }
}

/// The arguments of models/products/grouped_product.h.
GroupedShape shape_of(const at::Tensor& weight, const std::vector<std::int64_t>& begin) {
  return {begin, weight.size(1), weight.size(2), weight.size(3)};
}

GroupedWeight matrices_of(const at::Tensor& weight) {
  return {pointer<float>(weight), weight.stride(0), weight.stride(1), weight.stride(2), weight.stride(3)};
}

bool is_aligned(const at::Tensor& x) { return reinterpret_cast<std::uintptr_t>(x.const_data_ptr()) % 16 == 0; }

bool has_one_launch(const at::Tensor& x, const at::Tensor& weight, const std::vector<std::int64_t>& begin) {
  return x.is_cuda() && is_aligned(x) && has_grouped_product(shape_of(weight, begin), matrices_of(weight));
}

struct GroupedProduct : Function<GroupedProduct> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& given, const at::Tensor& weight,
                            const std::vector<std::int64_t>& begin, Precision precision) {
    const at::Tensor x = given.contiguous();
    ctx->save_for_backward({x, weight});
    ctx->saved_data["begin"] = begin;
    ctx->saved_data["precision"] = static_cast<std::int64_t>(precision);
    return rows_times(x, weight, begin, precision);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const auto precision = static_cast<Precision>(ctx->saved_data["precision"].toInt());
    const std::vector<std::int64_t> begin = ctx->saved_data["begin"].toIntVector();
    const at::Tensor grad = grads[0].contiguous();
    at::Tensor grad_x;
    if (ctx->needs_input_grad(0)) grad_x = rows_times(grad, weight.transpose(2, 3), begin, precision);
    return {grad_x, gradient_of_weight(x, grad, weight, begin, precision), {}, {}};
  }

 private:
  static at::Tensor rows_times(const at::Tensor& x, const at::Tensor& weight, const std::vector<std::int64_t>& begin,
                               Precision precision) {
    const std::int64_t num_blocks = weight.size(1);
    if (has_one_launch(x, weight, begin)) {
      at::Tensor y = make_f32({x.size(0), num_blocks * weight.size(3)}, x);
      on_device_of(x, [&](auto... stream) {
        if constexpr (sizeof...(stream) > 0)
          grouped_product(shape_of(weight, begin), pointer<float>(x), matrices_of(weight), y.mutable_data_ptr<float>(),
                          precision == Precision::kFp32, stream...);
      });
      return y;
    }
    at::Tensor y = at::zeros({x.size(0), num_blocks * weight.size(3)}, x.options());
    for_each_block(begin, num_blocks, [&](std::int64_t g, std::int64_t b, const auto& part) {
      add_product(part(y), part(x), weight.select(0, g).select(0, b), precision);
    });
    return y;
  }

  static at::Tensor gradient_of_weight(const at::Tensor& x, const at::Tensor& grad, const at::Tensor& weight,
                                       const std::vector<std::int64_t>& begin, Precision precision) {
    if (has_one_launch(x, weight, begin) && is_aligned(grad)) {
      const GroupedShape shape = shape_of(weight, begin);
      at::Tensor grad_weight = make_f32(weight.sizes(), x);
      const at::Tensor workspace = make_f32({grouped_gradient_workspace(shape)}, x);
      on_device_of(x, [&](auto... stream) {
        if constexpr (sizeof...(stream) > 0)
          grouped_weight_gradient(shape, {pointer<float>(x), pointer<float>(grad)},
                                  grad_weight.mutable_data_ptr<float>(), workspace.mutable_data_ptr<float>(),
                                  precision == Precision::kFp32, stream...);
      });
      return grad_weight;
    }
    at::Tensor grad_weight = at::zeros(weight.sizes(), weight.options());
    for_each_block(begin, weight.size(1), [&](std::int64_t g, std::int64_t b, const auto& part) {
      add_product(grad_weight.select(0, g).select(0, b), part(x).t(), part(grad), precision);
    });
    return grad_weight;
  }
};

std::int64_t missing_to_eight(std::int64_t count) { return (8 - count % 8) % 8; }

/// One place of each row in x, and the rows of y there.
struct TypePlaces {
  std::vector<at::Tensor> of_type;

  /// f(places, rows[i]) for the i-th type
  template <class Rows, class F>
  static void for_each(const variable_list& places, const Rows& rows, std::int64_t width, const F& f) {
    for (std::size_t i = 0; i < places.size(); ++i)
      if (rows[i].defined()) f(RowPlaces{pointer<LocalId>(places[i]), places[i].numel(), width}, rows[i]);
  }

  static at::Tensor put(const variable_list& places, at::TensorList rows, std::int64_t num_rows, std::int64_t width) {
    std::int64_t count = 0;
    const at::Tensor* some = &places.front();
    for_each(places, rows, width, [&](const RowPlaces& of, const at::Tensor&) { count += of.count; });
    const at::TensorOptions f32 = some->options().dtype(at::kFloat);
    at::Tensor out = count == num_rows ? at::empty({num_rows, width}, f32) : at::zeros({num_rows, width}, f32);
    on_device_of(out, [&](auto... stream) {
      for_each(places, rows, width, [&](const RowPlaces& of, const at::Tensor& from) {
        put_rows(of, pointer<float>(from.contiguous()), out.mutable_data_ptr<float>(), stream...);
      });
    });
    return out;
  }

  static variable_list take(const variable_list& places, const at::Tensor& given) {
    const at::Tensor x = given.contiguous();
    variable_list out;
    for (const at::Tensor& of : places) out.push_back(make_f32({of.numel(), x.size(1)}, x));
    on_device_of(x, [&](auto... stream) {
      for_each(places, out, x.size(1), [&](const RowPlaces& of, const at::Tensor& to) {
        take_rows(of, pointer<float>(x), to.mutable_data_ptr<float>(), stream...);
      });
    });
    return out;
  }
};

struct SplitRows : Function<SplitRows> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& x, const TypePlaces& places) {
    ctx->set_materialize_grads(false);
    ctx->save_for_backward(places.of_type);
    ctx->saved_data["num_rows"] = x.size(0);
    ctx->saved_data["width"] = x.size(1);
    return TypePlaces::take(places.of_type, x);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    return {TypePlaces::put(ctx->get_saved_variables(), grads, ctx->saved_data["num_rows"].toInt(),
                            ctx->saved_data["width"].toInt()),
            {}};
  }
};

struct JoinRows : Function<JoinRows> {
  static at::Tensor forward(AutogradContext* ctx, at::TensorList rows, const TypePlaces& places, std::int64_t num_rows,
                            std::int64_t width) {
    ctx->save_for_backward(places.of_type);
    return TypePlaces::put(places.of_type, rows, num_rows, width);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    variable_list of_rows = TypePlaces::take(ctx->get_saved_variables(), grads[0]);
    of_rows.resize(of_rows.size() + 3);  // places, num_rows, width
    return of_rows;
  }
};

}  // namespace

RelationMeans relation_means(const HopView& hop, const at::Tensor& x, GradientOrder order) {
  variable_list both = MeansAndOwnRows::apply(x, in_relation_order(hop), hop.num_dst, order);
  return {std::move(both[0]), std::move(both[1])};
}

at::Tensor grouped_product(const at::Tensor& x, const std::vector<std::int64_t>& begin, const at::Tensor& weight,
                           Precision precision) {
  require(weight.dim() == 4 && x.size(1) == weight.size(1) * weight.size(2), "a weight as wide as x in each group");
  require(begin.size() == static_cast<std::size_t>(weight.size(0)) + 1 && begin.back() == x.size(0),
          "a weight for each group of rows");
  const std::int64_t more_in = missing_to_eight(x.size(1)), out = weight.size(3), more_out = missing_to_eight(out);
  if (!x.is_cuda() || weight.size(1) > 1 || more_in + more_out == 0)
    return GroupedProduct::apply(x, weight, begin, precision);
  const at::Tensor wide = at::constant_pad_nd(weight, {0, more_out, 0, more_in});
  const at::Tensor rows = more_in == 0 ? x : at::constant_pad_nd(x, {0, more_in});
  return GroupedProduct::apply(rows, wide, begin, precision).narrow(1, 0, out).contiguous();
}

std::vector<at::Tensor> RowsByType::split(const at::Tensor& x) const {
  require(x.scalar_type() == at::kFloat && x.dim() == 2, "rows of f32");
  TypePlaces places;
  for (std::size_t t = 0; t < nodes.size(); ++t) places.of_type.push_back(nodes[t].narrow(0, 0, count[t]));
  return SplitRows::apply(x, places);
}

at::Tensor RowsByType::join(const std::vector<at::Tensor>& rows, std::int64_t width) const {
  std::vector<at::Tensor> filled;
  TypePlaces places;
  std::int64_t num_rows = 0;
  for (std::size_t t = 0; t < nodes.size(); ++t) {
    num_rows += count[t];
    if (!rows[t].defined()) continue;
    require(rows[t].size(0) == count[t] && rows[t].size(1) == width, "a row for each node of a type");
    filled.push_back(rows[t]);
    places.of_type.push_back(nodes[t].narrow(0, 0, count[t]));
  }
  if (filled.empty()) return at::zeros({num_rows, width}, nodes.front().options().dtype(at::kFloat));
  return JoinRows::apply(at::TensorList(filled), places, num_rows, width);
}

at::Tensor RowsByType::place_in_type() const {
  std::vector<at::Tensor> places, values;
  for (std::size_t t = 0; t < nodes.size(); ++t) {
    places.push_back(nodes[t].narrow(0, 0, count[t]));
    values.push_back(counted(places.back()));
  }
  return placed(at::cat(places), at::cat(values));
}

at::Tensor places_in_table(const at::Tensor& nodes, const at::Tensor& rows, std::int64_t first) {
  at::Tensor places = at::empty({rows.numel()}, rows.options().dtype(at::kLong));
  on_device_of(nodes, [&](auto... stream) {
    places_in_table({pointer<LocalId>(rows), rows.numel(), 1}, pointer<NodeId>(nodes), first,
                    places.mutable_data_ptr<std::int64_t>(), stream...);
  });
  return places;
}

}  // namespace salient
