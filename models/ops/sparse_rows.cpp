// models/ops/sparse_rows.cpp - see sparse_rows.h.
#include "models/ops/sparse_rows.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "models/kernels/sparse_dropout.h"
#include "models/kernels/sparse_product.h"
#include "models/ops/kernel_call.h"

namespace salient {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// Calls f(the rows as plain arrays) with the type of their values.
template <class F>
void with_rows_of(const SparseRows& x, const F& f) {
  require(x.begin.numel() > x.num_rows && x.columns.numel() == x.values.numel(), "sparse rows have all their arrays");
  require(x.columns.device() == x.values.device(), "sparse rows are on one device");
  const auto call = [&]<class T>(const T* values) {
    f(SparseRowsOf<T>{pointer<LocalId>(x.begin), pointer<LocalId>(x.columns), values, x.num_rows, x.num_columns});
  };
  x.values.scalar_type() == at::kHalf ? call(pointer<Half>(x.values)) : call(pointer<float>(x.values));
}

at::Tensor ids_of(const std::vector<LocalId>& ids, const at::Tensor& like) {
  const at::Tensor made = at::empty({static_cast<std::int64_t>(ids.size())}, like.options());
  std::ranges::copy(ids, made.mutable_data_ptr<LocalId>());
  return made;
}

/// Of all rows of the batch, whatever part of them x is: rows ascend within a column, so the first ones come first.
const ValuesByColumn& values_by_column(const SparseRows& x) {
  ValuesByColumn& found = *x.by_column;
  if (found.indptr.defined()) return found;
  const HopView all{x.begin.numel() - 1, x.num_columns, x.begin, x.columns};
  if (x.values.device().is_cpu()) {
    const TransposedHop made = transpose(edges_of(all));
    found = {ids_of(made.indptr, x.columns), ids_of(made.destination, x.columns), ids_of(made.edge, x.columns)};
    return found;
  }
  const c10::DeviceGuard guard(x.values.device());
  const EdgesBySource made = EdgesBySource::make(all, current_stream(x.values.device()));
  found = {made.indptr, made.destination, made.edge};
  return found;
}

at::Tensor product(const SparseRows& x, const at::Tensor& weight) {
  require(weight.dim() == 2 && weight.size(1) == x.num_columns && weight.scalar_type() == at::kFloat,
          "the weight has a column for each of the rows'");
  require(weight.device() == x.values.device(), "weight and rows are on one device");
  const at::Tensor matrix = weight.t().contiguous();
  at::Tensor out = make_f32({x.num_rows, weight.size(0)}, weight);
  with_rows_of(x, [&](const auto& rows) {
    on_device_of(weight, [&](auto... stream) {
      sparse_product(rows, pointer<float>(matrix), weight.size(0), out.mutable_data_ptr<float>(), stream...);
    });
  });
  return out;
}

struct SparseLinear : Function<SparseLinear> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& weight, const SparseRows& x) {
    const ValuesByColumn& by_column = values_by_column(x);
    ctx->saved_data["num_rows"] = x.num_rows;
    ctx->save_for_backward({x.begin, x.columns, x.values, by_column.indptr, by_column.row, by_column.value});
    return product(x, weight);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const SourceEdges by_column{pointer<LocalId>(saved[3]), pointer<LocalId>(saved[4]), pointer<LocalId>(saved[5])};
    const SparseRows x{ctx->saved_data["num_rows"].toInt(), saved[3].numel() - 1, saved[0], saved[1], saved[2]};
    const at::Tensor grad = grads[0].contiguous();
    at::Tensor made = make_f32({x.num_columns, grad.size(1)}, grad);
    with_rows_of(x, [&](const auto& rows) {
      on_device_of(grad, [&](auto... stream) {
        sparse_product_backward(rows, by_column, pointer<float>(grad), grad.size(1), made.mutable_data_ptr<float>(),
                                stream...);
      });
    });
    return {made.t(), {}};
  }
};

}  // namespace

at::Tensor sparse_linear(const SparseRows& x, const at::Tensor& weight) {
  if (!at::GradMode::is_enabled() || !weight.requires_grad()) return product(x, weight.detach());
  return SparseLinear::apply(weight, x);
}

SparseRows node_dropout(const SparseRows& x, double p, const DropoutKey& key, std::uint32_t layer) {
  if (p == 0) return x;
  require(key.nodes.scalar_type() == at::kInt && key.nodes.is_contiguous(), "the dropout key's nodes are int32");
  require(key.nodes.device() == x.values.device() && key.nodes.numel() >= x.num_rows,
          "the dropout key names every row of x");
  SparseRows dropped = x;
  dropped.values = make_f32({x.values.numel()}, x.values);
  const DropoutMask mask = DropoutMask::make(p, key.seed, key.step, layer);
  with_rows_of(x, [&](const auto& rows) {
    on_device_of(x.values, [&](auto... stream) {
      sparse_dropout(mask, rows, pointer<std::uint32_t>(key.nodes), dropped.values.mutable_data_ptr<float>(),
                     stream...);
    });
  });
  return dropped;
}

InputRows node_dropout(const InputRows& x, double p, const DropoutKey& key, std::uint32_t layer) {
  if (x.is_sparse()) return node_dropout(x.sparse(), p, key, layer);
  return node_dropout(x.dense(), p, key, layer);
}

}  // namespace salient
