// models/input_rows.cpp - see input_rows.h.
#include "models/input_rows.h"

#include <utility>

#include "core/error.h"

namespace salient {

InputRows::InputRows(at::Tensor dense) : dense_(std::move(dense)) {}
InputRows::InputRows(SparseRows sparse) : sparse_(std::move(sparse)) {}

const at::Tensor& InputRows::dense() const {
  require(!is_sparse(), "dense rows where only those are understood");
  return dense_;
}

InputRows InputRows::first(std::int64_t count) const {
  if (is_sparse()) return sparse_->first(count);
  return dense_.narrow(0, 0, count);
}

}  // namespace salient
