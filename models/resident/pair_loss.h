// models/resident/pair_loss.h - the loss of a batch's links and its gradient, from rows of their ends, on the GPU.
#pragma once

#include "core/cuda/cuda.h"
#include "models/resident/loss.h"

namespace salient {

/// As seed_loss() of links: scores of pairs are products of two rows (DecoderKind::kDot), and the loss is that of
/// link_loss_sum(). Seeds are those of TreeLinks.
///
/// @param loss      with SeedLoss::targets.pairs
/// @param rows      [max_seeds, padded(num_classes)] f32 device: of the seeds
/// @param gradient  [max_seeds, padded(num_classes)] device; zeros for rows and columns that are of no seed
/// Oracle: LinkDecoder and link_loss_sum(), in tests/models/resident/pair_loss_gpu_test.cpp.
void pair_loss(const SeedLoss& loss, const float* rows, void* gradient, cudaStream_t stream);

}  // namespace salient
