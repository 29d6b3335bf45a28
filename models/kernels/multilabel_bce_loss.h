// models/kernels/multilabel_bce_loss.h - the loss of several labels a node, its gradient, and how many are right.
#pragma once

#include <cstdint>
#include <span>

#include "core/philox.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace salient {

/// Sums over the known labels.
struct BceSums {
  double loss = 0;
  double correct = 0;  ///< whole; a label is predicted where its logit is above 0
};

/// Of one known label: max(z, 0) - t z + log(1 + exp(-|z|)), t = (1 - s) flag + s / 2, s = label smoothing.
struct BceTarget {
  float keep;   ///< 1 - s
  float share;  ///< s / 2

  static BceTarget make(double label_smoothing) {
    return {static_cast<float>(1 - label_smoothing), static_cast<float>(label_smoothing / 2)};
  }
  SALIENT_HOST_DEVICE float of(std::int8_t flag) const { return keep * static_cast<float>(flag) + share; }
};

/// Binary cross entropy of sigmoid(logits), summed over the labels whose flag is 0 or 1, and its gradient; torch's
/// binary_cross_entropy_with_logits(reduction="sum") of those.
///
/// @param logits  [count] f32, host    @param flags  [count] 1, 0, or -1 = not known: adds nothing
/// @param grad    [count] f32: sigmoid(z) - t, 0 where not known; overwritten
/// Determinism:   the sums are those of blocks of fixed size, added in order: the same bits for any thread count.
/// Threads:       runs on the caller's oneTBB arena.
/// Cost:          9 bytes of memory traffic and two transcendental functions per label.
/// Oracle:        multilabel_bce_loss_reference(), in double precision
BceSums multilabel_bce_loss(BceTarget target, std::span<const float> logits, const std::int8_t* flags, float* grad);
BceSums multilabel_bce_loss_reference(BceTarget target, std::span<const float> logits, const std::int8_t* flags,
                                      float* grad);

/// Where the device version writes, and how many partial sums it needs.
inline constexpr int kMultilabelBceBlocks = 256;
struct MultilabelBceOutput {
  float* grad;       ///< [count]
  BceSums* partial;  ///< [kMultilabelBceBlocks] scratch
  BceSums* sums;     ///< both sums
  float* loss;       ///< sums->loss
};

/// The same on device memory: enqueues on `stream` and returns. The sums are added in a fixed order, too.
void multilabel_bce_loss(BceTarget target, std::span<const float> logits, const std::int8_t* flags,
                         const MultilabelBceOutput& out, CUstream_st* stream);

}  // namespace salient
