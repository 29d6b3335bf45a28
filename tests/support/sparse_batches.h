// tests/support/sparse_batches.h - a batch whose features are mostly 0, dense and sparse.
#pragma once

#include <ATen/ATen.h>

#include "models/batch_view.h"
#include "tests/support/batch_views.h"

namespace salient::test {

/// The rows of a matrix without its zeros.
inline SparseRows sparse_rows_of(const at::Tensor& dense) {
  const at::Tensor where = dense.nonzero();  // row by row
  const at::Tensor counts = dense.ne(0).sum(1).to(at::kInt);
  at::Tensor begin = at::zeros({dense.size(0) + 1}, at::kInt);
  begin.narrow(0, 1, dense.size(0)).copy_(counts.cumsum(0));
  return {.num_rows = dense.size(0),
          .num_columns = dense.size(1),
          .begin = begin,
          .columns = where.select(1, 1).to(at::kInt).contiguous(),
          .values = dense.index({where.select(1, 0), where.select(1, 1)}).contiguous()};
}

struct TwinBatches {
  BatchView dense, sparse;
};

/// A third of the values of x is not 0; every fourth row is empty.
inline TwinBatches twin_batches(const std::vector<std::int64_t>& num_nodes, std::int64_t in_dim,
                                std::int64_t num_classes, at::ScalarType type = at::kFloat) {
  TwinBatches made{random_batch(num_nodes, in_dim, num_classes, 4), random_batch(num_nodes, in_dim, num_classes, 4)};
  at::Tensor x = made.dense.x.dense().clone();
  x.masked_fill_(x.lt(0.7), 0);
  for (std::int64_t i = 0; i < x.size(0); i += 4) x.select(0, i).zero_();
  x = x.to(type);
  made.dense.x = x;
  made.sparse.x = sparse_rows_of(x);
  return made;
}

}  // namespace salient::test
