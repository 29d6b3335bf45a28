// models/sparse_rows.cpp - see sparse_rows.h.
#include "models/sparse_rows.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/zeros.h>

#include "core/error.h"

namespace salient {

SparseRows SparseRows::first(std::int64_t count) const {
  require(count <= num_rows, "as many rows as there are");
  SparseRows rows = *this;
  rows.num_rows = count;
  return rows;
}

at::Tensor to_dense(const SparseRows& x) {
  const std::int64_t num_rows = x.begin.numel() - 1;
  const at::Tensor positions = at::arange(x.values.numel(), x.begin.options());
  const at::Tensor row = at::searchsorted(x.begin, positions, /*out_int32=*/false, /*right=*/true) - 1;
  at::Tensor dense = at::zeros({num_rows * x.num_columns}, x.values.options().dtype(at::kFloat));
  dense.scatter_(0, row * x.num_columns + x.columns, x.values.to(at::kFloat));
  return dense.view({num_rows, x.num_columns}).narrow(0, 0, x.num_rows);
}

}  // namespace salient
