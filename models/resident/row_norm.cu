// models/resident/row_norm.cu - see row_norm.h.
//
// Work split  8 to 256 lanes per row, one chunk of eight columns each, so that a lane has the same columns in all rows
//             that it walks over: their parameters, and the sums for their gradients, are in its registers.
// Access      rows behind each other, in words of 16 or 32 bytes; two rows are requested before the first is used.
// Limit       memory.
// Sync        shuffles; lanes of several warps, and shares of column sums, meet in shared memory.
#include <algorithm>

#include "core/error.h"
#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/activation.cuh"
#include "models/resident/column_sums.cuh"
#include "models/resident/masks.cuh"
#include "models/resident/row_norm.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kInFlight = 2;                                // rows
constexpr int kForwardResident = 3, kBackwardResident = 2;  // blocks of a multiprocessor
// Whole waves of 132 multiprocessors; several, as other kernels may run beside. Each block has a share of column sums.
constexpr std::int64_t kForwardBlocks = 132 * kForwardResident * 4, kShares = 132 * kBackwardResident * 2;
constexpr float kEpsilon = 1e-5f;

/// The lanes of a row, and the rows of a block: row, row + kRows, ...
template <int kLanes>
struct Team {
  static constexpr int kRows = kThreadsPerBlock / kLanes;
  int lane, row;

  __device__ static Team here() {
    return {static_cast<int>(threadIdx.x) % kLanes, static_cast<int>(threadIdx.x) / kLanes};
  }
  /// Each value summed over the team's lanes. All threads of the block call it.
  template <int kCount>
  __device__ void add_up(float (&values)[kCount]) const {
#pragma unroll
    for (int offset = min(kLanes, 32) / 2; offset > 0; offset /= 2)
#pragma unroll
      for (float& value : values) value += __shfl_xor_sync(0xFFFFFFFF, value, offset);
    if constexpr (kLanes > 32) {
      constexpr int kWarps = kThreadsPerBlock / 32, kWarpsOfRow = kLanes / 32;
      __shared__ float of_warp[kWarps][kCount];
      const int warp = static_cast<int>(threadIdx.x) / 32;
      if (threadIdx.x % 32 == 0)
        for (int k = 0; k < kCount; ++k) of_warp[warp][k] = values[k];
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        values[k] = 0;
        for (int w = 0; w < kWarpsOfRow; ++w) values[k] += of_warp[row * kWarpsOfRow + w][k];
      }
      __syncthreads();  // the next sums are written to the same place
    }
  }
};

/// Row k of a lane's turn that begins at row `base` of the block.
template <int kLanes>
__device__ std::int64_t row_of(const Team<kLanes>& team, std::int64_t base, int k) {
  return base + k * Team<kLanes>::kRows + team.row;
}

/// One chunk of rows, requested together.
template <class T>
struct SomeRows {
  EightWords<T> words[kInFlight];

  template <int kLanes>
  __device__ static SomeRows load(const Matrix& matrix, const Team<kLanes>& team, std::int64_t base, LocalId count) {
    SomeRows rows{};
#pragma unroll
    for (int k = 0; k < kInFlight; ++k)
      if (const std::int64_t row = row_of(team, base, k); row < count)
        rows.words[k] = EightWords<T>::load(matrix.as<const T>() + row * matrix.width + team.lane * 8);
    return rows;
  }
};

/// z + addend of one row's chunk; zeros where nothing was loaded.
template <class T>
__device__ void add_chunks(const EightWords<T>& z, const EightWords<T>& addend, float (&values)[8]) {
  float more[8];
  z.unpack(values);
  addend.unpack(more);
#pragma unroll
  for (int c = 0; c < 8; ++c) values[c] += more[c];
}

/// Of the first `count` rows; of others, and behind the last column, no row is read.
template <int kLanes>
__device__ LocalId rows_with(const RowNorm& norm, const Team<kLanes>& team) {
  return team.lane * 8 < norm.z.width ? *norm.num_nodes : 0;
}

template <class T, int kLanes>
__global__ void __launch_bounds__(kThreadsPerBlock, kForwardResident)
    normalise_rows_kernel(RowNorm norm, std::int64_t rows) {
  const auto team = Team<kLanes>::here();
  const LocalId count = *norm.num_nodes, count_here = rows_with(norm, team);
  const bool is_column = team.lane * 8 < norm.z.width;
  const auto columns = static_cast<float>(norm.z.width);
  const StepMask mask = StepMask::of(norm.dropout);
  float weight[8], bias[8];
  load_columns(norm.weight, team.lane, norm.z.width, weight);
  load_columns(norm.bias, team.lane, norm.z.width, bias);
  constexpr std::int64_t kTurn = std::int64_t{kInFlight} * Team<kLanes>::kRows;
  for (std::int64_t base = blockIdx.x * kTurn; base < rows; base += gridDim.x * kTurn) {
    const auto z = SomeRows<T>::load(norm.z, team, base, count_here);
    const auto addend =
        norm.addend.data != nullptr ? SomeRows<T>::load(norm.addend, team, base, count_here) : SomeRows<T>{};
    float values[kInFlight][8], mean[kInFlight] = {}, deviation[kInFlight] = {};
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      add_chunks(z.words[k], addend.words[k], values[k]);
#pragma unroll
      for (int c = 0; c < 8; ++c) mean[k] += values[k][c];
    }
    team.add_up(mean);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      mean[k] /= columns;
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        values[k][c] -= mean[k];
        if (is_column) deviation[k] += values[k][c] * values[k][c];
      }
    }
    team.add_up(deviation);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const std::int64_t row = row_of(team, base, k);
      if (row >= rows) continue;
      const float scale = 1.0f / sqrtf(deviation[k] / columns + kEpsilon);
      const bool is_node = row < count;
      T* const out = norm.out.as<T>() + row * norm.out.width;
      if (is_node && is_column) {
#pragma unroll
        for (int c = 0; c < 8; ++c) values[k][c] = values[k][c] * scale * weight[c] + bias[c];
        const NodeId node = mask.is_none() ? 0 : norm.nodes[row];
        const std::uint8_t bits = activate(norm.dropout, mask.mask, node, team.lane, values[k]);
        if (norm.kept != nullptr) norm.kept[row * (norm.z.width / 8) + team.lane] = bits;
      }
      if (is_column) store_eight(values[k], out + team.lane * 8);
      if (team.lane != 0) continue;
      const float ones[8] = {is_node ? 1.0f : 0.0f};
      if (norm.out.width > norm.z.width) store_eight(ones, out + norm.z.width);
      if (norm.statistics != nullptr && is_node)
        reinterpret_cast<float2*>(norm.statistics)[row] = make_float2(mean[k], scale);
    }
  }
}

template <class T, int kLanes>
__global__ void __launch_bounds__(kThreadsPerBlock, kBackwardResident)
    normalise_rows_backward_kernel(RowNorm norm, Matrix gradient, Matrix dz, std::int64_t rows) {
  const auto team = Team<kLanes>::here();
  const LocalId count_here = rows_with(norm, team);
  const bool is_column = team.lane * 8 < norm.z.width;
  const auto columns = static_cast<float>(norm.z.width);
  const float kept_scale = norm.dropout.threshold == 0 ? 1.0f : norm.dropout.scale;
  float weight[8];
  load_columns(norm.weight, team.lane, norm.z.width, weight);
  ColumnSums sums;  // of the bias, of the weight
  constexpr std::int64_t kTurn = std::int64_t{kInFlight} * Team<kLanes>::kRows;
  for (std::int64_t base = blockIdx.x * kTurn; base < rows; base += gridDim.x * kTurn) {
    const auto z = SomeRows<T>::load(norm.z, team, base, count_here);
    const auto addend =
        norm.addend.data != nullptr ? SomeRows<T>::load(norm.addend, team, base, count_here) : SomeRows<T>{};
    const auto by_out = SomeRows<T>::load(gradient, team, base, count_here);
    unsigned bits[kInFlight] = {};
    float2 statistics[kInFlight] = {};  // mean, 1 / deviation
#pragma unroll
    for (int k = 0; k < kInFlight; ++k)
      if (const std::int64_t row = row_of(team, base, k); row < count_here) {
        bits[k] = norm.kept[row * (norm.z.width / 8) + team.lane];
        statistics[k] = reinterpret_cast<const float2*>(norm.statistics)[row];
      }
    float normalised[kInFlight][8], values[kInFlight][8];
    float totals[2 * kInFlight] = {};  // of a row's gradient, and of it times the normalised value
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      add_chunks(z.words[k], addend.words[k], normalised[k]);
      by_out.words[k].unpack(values[k]);
      keep(bits[k], kept_scale, values[k]);
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        normalised[k][c] = (normalised[k][c] - statistics[k].x) * statistics[k].y;
        sums.first[c] += values[k][c];
        sums.second[c] += values[k][c] * normalised[k][c];
        values[k][c] *= weight[c];
        totals[2 * k] += values[k][c];
        totals[2 * k + 1] += values[k][c] * normalised[k][c];
      }
    }
    team.add_up(totals);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const std::int64_t row = row_of(team, base, k);
      if (row >= rows || !is_column) continue;
      const float mean = totals[2 * k] / columns, product = totals[2 * k + 1] / columns;
#pragma unroll
      for (int c = 0; c < 8; ++c)  // 0 behind the level's end, where 1 / deviation is
        values[k][c] = statistics[k].y * (values[k][c] - mean - normalised[k][c] * product);
      store_eight(values[k], dz.as<T>() + row * dz.width + team.lane * 8);
    }
  }
  write_share<kLanes>(sums, norm.z.width, norm.sums);
}

__global__ void __launch_bounds__(kTotalsThreads) row_norm_parameters_kernel(RowNorm norm, int shares) {
  const ColumnTotals totals = totals_of(norm.sums, shares, norm.z.width);
  const std::int64_t column = std::int64_t{blockIdx.x} * 32 + threadIdx.x;
  if (threadIdx.x >= 32 || column >= norm.z.width) return;
  norm.bias_gradient[column] = static_cast<float>(totals.first);
  norm.weight_gradient[column] = static_cast<float>(totals.second);
}

// ---- host code -------------------------------------------------------------------------------------------

/// launch(Team<kLanes>{}) for enough lanes for a row.
template <class Launch>
void with_team(std::int64_t columns, Launch&& launch) {
  require(columns <= kMaxResidentLayerNormWidth, "a layer norm has at most 2048 columns");
  if (columns <= 64) return launch(Team<8>{});
  if (columns <= 128) return launch(Team<16>{});
  if (columns <= 256) return launch(Team<32>{});
  if (columns <= 512) return launch(Team<64>{});
  if (columns <= 1024) return launch(Team<128>{});
  launch(Team<256>{});
}

/// Blocks for all rows, at most `most`.
template <int kLanes>
int blocks_of(Team<kLanes> /*team*/, std::int64_t rows, std::int64_t most) {
  constexpr std::int64_t kTurn = std::int64_t{kInFlight} * Team<kLanes>::kRows;
  return static_cast<int>(std::clamp((rows + kTurn - 1) / kTurn, std::int64_t{1}, most));
}

template <class T>
void launch_forward(const RowNorm& norm, std::int64_t rows, cudaStream_t stream) {
  with_team(norm.z.width, [&]<int kLanes>(Team<kLanes> team) {
    normalise_rows_kernel<T, kLanes>
        <<<blocks_of(team, rows, kForwardBlocks), kThreadsPerBlock, 0, stream>>>(norm, rows);
  });
  cuda_check(cudaGetLastError());
}

template <class T>
void launch_backward(const RowNorm& norm, const Matrix& gradient, const Matrix& dz, std::int64_t rows,
                     cudaStream_t stream) {
  with_team(norm.z.width, [&]<int kLanes>(Team<kLanes> team) {
    const int shares = blocks_of(team, rows, kShares);
    normalise_rows_backward_kernel<T, kLanes><<<shares, kThreadsPerBlock, 0, stream>>>(norm, gradient, dz, rows);
    cuda_check(cudaGetLastError());
    const auto warps = static_cast<unsigned>((norm.z.width + 31) / 32);
    row_norm_parameters_kernel<<<warps, kTotalsThreads, 0, stream>>>(norm, shares);
  });
  cuda_check(cudaGetLastError());
}

}  // namespace

std::int64_t row_norm_sums_size(std::int64_t columns) { return kShares * 2 * columns; }

void row_norm_forward(const RowNorm& norm, std::int64_t rows, cudaStream_t stream) {
  norm.z.type == ActivationType::kF32 ? launch_forward<float>(norm, rows, stream)
                                      : launch_forward<Bf16>(norm, rows, stream);
}

void row_norm_backward(const RowNorm& norm, const Matrix& gradient, const Matrix& dz, std::int64_t rows,
                       cudaStream_t stream) {
  norm.z.type == ActivationType::kF32 ? launch_backward<float>(norm, gradient, dz, rows, stream)
                                      : launch_backward<Bf16>(norm, gradient, dz, rows, stream);
}

}  // namespace salient
