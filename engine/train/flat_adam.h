// engine/train/flat_adam.h - all parameters in one flat buffer, gradients in another, and Adam over both.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>

#include "engine/comm/communicator.h"
#include "engine/train/learned_tables.h"
#include "engine/train/tensor_file.h"
#include "models/model.h"
#include "models/ops/adam.h"

namespace salient {

/// Moves a model's parameters into one buffer, of which they become views, and their gradients likewise: gradient
/// exchange is one all-reduce and an optimiser step one kernel. Rows that are learned for nodes are at the end of that
/// buffer and have no gradient in the other: of them a step reads and moves what its batch touches (LearnedTables).
class FlatAdam {
 public:
  struct Options {
    double lr = 0.003;
    double weight_decay = 0;  ///< L2 term added to the gradient, as torch.optim.Adam does; of learned rows in the
                              ///< steps that touch them
  };

  /// @param model  outlives this; on its final device. Its parameters must not be replaced afterwards.
  FlatAdam(Model& model, Options options);

  void set_lr(double lr) { options_.lr = lr; }

  void zero_gradients();
  /// [P] f32 gradients of all parameters but learned rows, on the model's device.
  std::span<float> gradients();
  /// Gradients become the sums over ranks. Collective; see Communicator::all_reduce_sum().
  void sum_over_ranks(Communicator& comm, CUstream_st* stream);
  /// All of them, learned rows at the end.
  std::span<float> parameters();

  /// For kernels that do the step on the device: the optimiser's memory, and its rates. Of a model without learned
  /// rows.
  AdamState device_state();
  AdamRates rates() const { return adam_rates(options_.lr, options_.weight_decay); }

  /// One step of Adam (Kingma and Ba, ICLR 2015; betas 0.9, 0.999, eps 1e-8). Enqueued on the current stream.
  void step();

  /// XXH3-64 of all parameters; waits for the device.
  std::uint64_t checksum() const;

  /// Moments by parameter name, "NAME.exp_avg", "NAME.exp_avg_sq", and "step" [1] f32: what a checkpoint holds. Views.
  NamedTensors state() const;

 private:
  AdamTensors tensors() const;
  at::Tensor rows_of(const at::Tensor& flat) const;

  Options options_;
  LearnedTables tables_;
  at::Tensor parameters_, gradients_, exp_avg_, exp_avg_sq_, step_, num_finished_blocks_;
  struct Slice {
    std::string name;
    std::int64_t begin;
    std::vector<std::int64_t> shape;
  };
  std::vector<Slice> slices_;
};

}  // namespace salient
