// models/resident/pair_loss.cu - see pair_loss.h.
//
// Work split  a warp per link: its seeds are rows of its own, so each gradient has one writer and sums one order.
// Access      a link's rows are behind each other; they are read twice, the second time from the L1 cache.
// Limit       latency, and the rows' bytes.
// Sync        warp shuffles. Scores go through memory, as a link may have any number of negatives.
#include <cmath>

#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/pair_loss.h"
#include "models/resident/seed_loss.cuh"
#include "sampler/negative_draws.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

__device__ float softplus(float x) { return fmaxf(x, 0.0f) + log1pf(expf(-fabsf(x))); }
__device__ float sigmoid(float x) { return x >= 0 ? 1 / (1 + expf(-x)) : expf(x) / (1 + expf(x)); }

/// A link's rows, and its scores: its own, then those of its negatives.
struct LinkRows {
  const float* rows;  ///< source, destination, replaced ends
  std::int64_t stride;
  std::int64_t columns;
  CorruptedEnd corrupt;
  std::uint32_t negatives;

  __device__ const float* row(std::uint32_t i) const { return rows + i * stride; }
  /// The end that negative j keeps.
  __device__ std::uint32_t kept_end(std::uint32_t j) const { return replaces_source(corrupt, j) ? 1 : 0; }
  __device__ float score(const float* a, const float* b, int lane) const {
    float sum = 0;
    for (std::int64_t c = lane; c < columns; c += 32) sum += a[c] * b[c];
    return sum_of_lanes(sum);
  }
};

/// The loss of a link from its scores, by all lanes; scores become the loss's slopes by them.
struct ScoreLoss {
  LinkLoss kind;
  std::uint32_t negatives;

  __device__ float apply(float* scores, int lane) const {
    const float own = scores[0];
    float sum = 0, own_slope = 0;
    if (kind == LinkLoss::kSoftmax) return softmax(scores, lane);
    __syncwarp();
    for (std::uint32_t j = static_cast<std::uint32_t>(lane); j < negatives; j += 32) {
      const float other = scores[1 + j];
      float slope = 0;
      if (kind == LinkLoss::kBce) {
        sum += softplus(other);
        slope = sigmoid(other);
      } else if (kind == LinkLoss::kBpr) {
        sum += softplus(other - own);
        slope = sigmoid(other - own);
      } else if (1 - own + other > 0) {
        sum += 1 - own + other;
        slope = 1;
      }
      if (kind != LinkLoss::kBce) own_slope -= slope;
      scores[1 + j] = slope;
    }
    sum = sum_of_lanes(sum);
    own_slope = sum_of_lanes(own_slope);
    if (kind == LinkLoss::kBce) {
      sum += softplus(-own);
      own_slope = -sigmoid(-own);
    }
    if (lane == 0) scores[0] = own_slope;
    __syncwarp();
    return sum;
  }

  __device__ float softmax(float* scores, int lane) const {
    const float own = scores[0];
    float most = own;
    for (std::uint32_t j = static_cast<std::uint32_t>(lane); j <= negatives; j += 32) most = fmaxf(most, scores[j]);
    for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor_sync(kAllLanes, most, offset));
    float exponentials = 0;
    for (std::uint32_t j = static_cast<std::uint32_t>(lane); j <= negatives; j += 32)
      exponentials += expf(scores[j] - most);
    exponentials = sum_of_lanes(exponentials);
    __syncwarp();
    for (std::uint32_t j = static_cast<std::uint32_t>(lane); j <= negatives; j += 32)
      scores[j] = expf(scores[j] - most) / exponentials - (j == 0 ? 1.0f : 0.0f);
    __syncwarp();
    return logf(exponentials) + (most - own);
  }
};

/// The gradient of a link's rows from its slopes.
template <class T>
__device__ void spread_slopes(const LinkRows& link, const float* slopes, float scale, T* gradient, int lane) {
  for (std::int64_t c = lane; c < link.stride; c += 32) {
    float ends[2] = {0, 0};
    if (c < link.columns) {
      ends[0] = slopes[0] * link.row(1)[c];
      ends[1] = slopes[0] * link.row(0)[c];
    }
    for (std::uint32_t j = 0; j < link.negatives; ++j) {
      const std::uint32_t kept = link.kept_end(j);
      float other = 0;
      if (c < link.columns) {
        ends[kept] += slopes[1 + j] * link.row(2 + j)[c];
        other = slopes[1 + j] * link.row(kept)[c];
      }
      gradient[(2 + j) * link.stride + c] = static_cast<T>(other * scale);
    }
    gradient[c] = static_cast<T>(ends[0] * scale);
    gradient[link.stride + c] = static_cast<T>(ends[1] * scale);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    pair_loss_kernel(SeedLoss loss, std::int64_t stride, const float* __restrict__ rows, T* __restrict__ gradient) {
  const PairTargets& pairs = loss.targets.pairs;
  const std::int64_t i = (std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x) / 32;
  const std::int64_t of_link = 2 + std::int64_t{pairs.negatives}, num_links = loss.max_seeds / of_link;
  if (i >= num_links) return;
  const int lane = static_cast<int>(threadIdx.x) & 31;
  T* const own = gradient + i * of_link * stride;
  if (i * of_link >= loss.header->num_seeds) {
    for (std::int64_t c = lane; c < of_link * stride; c += 32) own[c] = static_cast<T>(0.0f);
    if (lane < 2) loss.rows[2 * i + lane] = 0;
    return;
  }
  const LinkRows link{rows + i * of_link * stride, stride, loss.num_classes, pairs.corrupt, pairs.negatives};
  float* const scores = loss.rows + 2 * num_links + i * (1 + std::int64_t{pairs.negatives});
  const float of_pair = link.score(link.row(0), link.row(1), lane);
  if (lane == 0) scores[0] = of_pair;
  for (std::uint32_t j = 0; j < pairs.negatives; ++j) {
    const float score = link.score(link.row(link.kept_end(j)), link.row(2 + j), lane);
    if (lane == 0) scores[1 + j] = score;
  }
  __syncwarp();
  const float sum = ScoreLoss{pairs.loss, pairs.negatives}.apply(scores, lane);
  spread_slopes(link, scores, loss.header->gradient_scale, own, lane);
  if (lane > 0) return;
  loss.rows[2 * i] = sum;
  loss.rows[2 * i + 1] = 0;
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void pair_loss(const SeedLoss& loss, const float* rows, void* gradient, cudaStream_t stream) {
  const auto launch = [&]<class T>(T* to) {
    pair_loss_kernel<T>
        <<<blocks_for(loss.num_items() * 32), kThreadsPerBlock, 0, stream>>>(loss, padded(loss.num_classes), rows, to);
  };
  loss.type == ActivationType::kF32 ? launch(static_cast<float*>(gradient)) : launch(static_cast<Bf16*>(gradient));
  cuda_check(cudaGetLastError());
}

}  // namespace salient
