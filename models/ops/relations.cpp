// models/ops/relations.cpp - see relations.h.
#include "models/ops/relations.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/error.h"
#include "models/ops/linear.h"
#include "models/ops/operators.h"

namespace salient {
namespace {

/// y[place[i]] = values[i] for places 0 .. n - 1, each once.
at::Tensor placed(const at::Tensor& place, const at::Tensor& values) {
  return at::empty(place.sizes(), values.options()).scatter_(0, place.to(at::kLong), values);
}

at::Tensor counted(const at::Tensor& like) { return at::arange(like.numel(), like.options()); }

}  // namespace

FilledRows::FilledRows(const HopView& hop) {
  require(hop.typed.has_value(), "a hop of a typed graph");
  const TypedHop& typed = *hop.typed;
  const std::int64_t num_rows = hop.indptr.numel() - 1, num_filled = typed.relation_rows.numel();
  const at::Tensor filled_up_to = hop.indptr.diff().gt(0).cumsum(0, at::kInt);
  in_hop = filled_up_to.index_select(0, typed.relation_rows).sub(1);
  by_relation = placed(in_hop, counted(in_hop));
  const at::Tensor rows = placed(in_hop, typed.relation_rows);
  dst = typed.row_dst.index_select(0, rows);
  dst_by_relation = typed.row_dst.index_select(0, typed.relation_rows);
  const at::Tensor end = hop.indptr.narrow(0, num_rows, 1);
  entries = {num_filled, hop.num_src, at::cat({hop.indptr.index_select(0, rows), end}), hop.indices};
  const at::Tensor filled_before = at::constant_pad_nd(filled_up_to, {1, 0});
  of_destination = {hop.num_dst, num_filled, filled_before.index_select(0, typed.row_begin), by_relation};
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

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

struct GroupedProduct : Function<GroupedProduct> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            const std::vector<std::int64_t>& begin, Precision precision) {
    const std::int64_t num_blocks = weight.size(1);
    at::Tensor y = at::zeros({x.size(0), num_blocks * weight.size(3)}, x.options());
    for_each_block(begin, num_blocks, [&](std::int64_t g, std::int64_t b, const auto& part) {
      add_product(part(y), part(x), weight.select(0, g).select(0, b), precision);
    });
    ctx->save_for_backward({x, weight});
    ctx->saved_data["begin"] = begin;
    ctx->saved_data["precision"] = static_cast<std::int64_t>(precision);
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const auto precision = static_cast<Precision>(ctx->saved_data["precision"].toInt());
    const at::Tensor grad = grads[0].contiguous();
    at::Tensor grad_x = at::zeros(x.sizes(), x.options()), grad_weight = at::zeros(weight.sizes(), weight.options());
    for_each_block(ctx->saved_data["begin"].toIntVector(), weight.size(1),
                   [&](std::int64_t g, std::int64_t b, const auto& part) {
                     add_product(part(grad_x), part(grad), weight.select(0, g).select(0, b).t(), precision);
                     add_product(grad_weight.select(0, g).select(0, b), part(x).t(), part(grad), precision);
                   });
    return {grad_x, grad_weight, {}, {}};
  }
};

}  // namespace

at::Tensor grouped_product(const at::Tensor& x, const std::vector<std::int64_t>& begin, const at::Tensor& weight,
                           Precision precision) {
  require(weight.dim() == 4 && x.size(1) == weight.size(1) * weight.size(2), "a weight as wide as x in each group");
  require(begin.size() == static_cast<std::size_t>(weight.size(0)) + 1 && begin.back() == x.size(0),
          "a weight for each group of rows");
  return GroupedProduct::apply(x, weight, begin, precision);
}

at::Tensor RowsByType::take(std::size_t type, const at::Tensor& x) const {
  return select_rows(x, nodes[type].narrow(0, 0, count[type]));
}

at::Tensor RowsByType::join(const std::vector<at::Tensor>& rows, std::int64_t width) const {
  std::vector<at::Tensor> filled, places;
  const at::TensorOptions f32 = nodes.front().options().dtype(at::kFloat);
  for (std::size_t t = 0; t < nodes.size(); ++t) {
    filled.push_back(rows[t].defined() ? rows[t] : at::zeros({count[t], width}, f32));
    places.push_back(nodes[t].narrow(0, 0, count[t]));
  }
  const at::Tensor place = at::cat(places);
  return select_rows(at::cat(filled), placed(place, counted(place)));
}

at::Tensor RowsByType::place_in_type() const {
  std::vector<at::Tensor> places, values;
  for (std::size_t t = 0; t < nodes.size(); ++t) {
    places.push_back(nodes[t].narrow(0, 0, count[t]));
    values.push_back(counted(places.back()));
  }
  return placed(at::cat(places), at::cat(values));
}

}  // namespace salient
