// engine/train/learned_tables.h - Adam over the rows that a model learns for nodes: those alone that a step touches.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/comm/communicator.h"
#include "models/model.h"
#include "models/ops/adam.h"

namespace salient {

class LearnedRows;

/// The memory of a contiguous f32 tensor.
std::span<float> floats_of(const at::Tensor& tensor);

/// All LearnedRows of a model as one table, one behind the other; they are of one width. A step's gradient is a list of
/// rows, which backward leaves as the parameters' sparse gradients: of each occurrence of a row one, and they are
/// summed up in their order. A batch's nodes are distinct, so that one rank has no row twice.
class LearnedTables {
 public:
  /// @param model  outlives this. Gradients of its learned rows are sparse from here on.
  explicit LearnedTables(Model& model);

  bool empty() const { return tables_.empty(); }
  std::int64_t num_rows() const { return num_rows_; }
  std::int64_t num_values() const { return num_rows_ * width_; }
  /// Whether it is one of the tables.
  bool has(const at::Tensor& parameter) const;

  /// Forgets the rows of the step before.
  void zero_gradients();

  /// Becomes the sum over ranks of the rows that any of them touches. Collective; every rank calls it in each step.
  /// Exchanges a number a row of the table, and `width` for each row that is touched.
  void sum_over_ranks(Communicator& comm, CUstream_st* stream);

  /// One step of the rows that are touched.
  /// @param table, exp_avg, exp_avg_sq  [num_rows, width]    @param steps  f32 scalar: done before this one
  void step(const at::Tensor& table, const at::Tensor& exp_avg, const at::Tensor& exp_avg_sq, const at::Tensor& steps,
            double lr, double weight_decay);

 private:
  struct Table {
    std::shared_ptr<LearnedRows> rows;
    std::int64_t first_row;
  };
  /// Rows of the table and their gradients.
  struct Touched {
    at::Tensor rows{};       ///< int64 [n] distinct
    at::Tensor gradients{};  ///< f32 [n, width]
  };
  void take_gradients();

  std::vector<Table> tables_{};
  std::int64_t num_rows_ = 0, width_ = 0;
  Touched touched_{};
  bool is_taken_ = false;
  std::vector<std::int64_t> place_{};  // [num_rows] scratch memory
  at::Tensor marks_{};                 // f32 [num_rows] likewise, zero between steps
};

}  // namespace salient
