// models/resident/batch_norm.cu - see batch_norm.h.
//
// Work split  sums: a block per tile of 64 columns and share of the rows, a lane per chunk of eight columns, then 32
//             threads per column add the shares up. Elsewhere a lane per chunk, which walks over rows: what normalises
//             a chunk is read once for all of them.
// Access      rows behind each other, in words of 16 or 32 bytes; four rows are requested before the first is used.
// Limit       memory: forward z twice and the result; backward z and its gradient twice, and the result.
// Sync        a block's rows meet in shared memory.
#include <algorithm>

#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/batch_norm.h"
#include "models/resident/batch_norm_rows.cuh"
#include "models/resident/masks.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kShares = 256;  // of the rows, of a tile of columns
constexpr int kTileChunks = 8, kTileColumns = 8 * kTileChunks, kTileRows = kThreadsPerBlock / kTileChunks;

/// Sums of z - shift and of its square, of distinct nodes; the shift is row 0, against cancellation.
template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock) moments_kernel(NormLayer layer) {
  const std::int64_t chunks = layer.z.width / 8;
  const std::int64_t chunk = std::int64_t{blockIdx.y} * kTileChunks + threadIdx.x % kTileChunks;
  const T* const z = layer.z.as<const T>() + chunk * 8;
  constexpr std::int64_t kStep = kShares * kTileRows;
  ColumnSums sums;
  if (chunk < chunks) {
    const LocalId count = *layer.num_nodes;
    float shift[8];
    load_eight(z, shift);
    for (std::int64_t first = std::int64_t{blockIdx.x} * kTileRows + threadIdx.x / kTileChunks; first < count;
         first += kInFlight * kStep) {
      bool is_counted[kInFlight];
      EightWords<T> words[kInFlight];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k)
        is_counted[k] = first + k * kStep < count && layer.first[first + k * kStep] != 0;
#pragma unroll
      for (int k = 0; k < kInFlight; ++k)
        if (is_counted[k]) words[k] = EightWords<T>::load(z + (first + k * kStep) * chunks * 8);
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        if (!is_counted[k]) continue;
        float values[8];
        words[k].unpack(values);
#pragma unroll
        for (int c = 0; c < 8; ++c) {
          const float difference = values[c] - shift[c];
          sums.first[c] += difference;
          sums.second[c] += difference * difference;
        }
      }
    }
  }
  write_share<kTileChunks>(sums, layer.z.width, layer.sums);
}

template <class T>
__global__ void __launch_bounds__(kTotalsThreads) statistics_kernel(NormLayer layer) {
  const std::int64_t width = layer.z.width, column = std::int64_t{blockIdx.x} * 32 + threadIdx.x % 32;
  const ColumnTotals sums = totals_of(layer.sums, kShares, width);
  if (threadIdx.x >= 32 || column >= layer.columns) return;
  const LocalId count = *layer.num_distinct;
  const double shifted = sums.first / count;
  const double variance = max(0.0, sums.second / count - shifted * shifted);
  const double mean = static_cast<double>(static_cast<float>(layer.z.as<const T>()[column])) + shifted;
  set_statistics(layer, column, count, mean, variance);
}

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock) apply_kernel(NormLayer layer, std::int64_t rows) {
  const std::int64_t chunks = layer.z.width / 8, out_chunks = layer.out.width / 8;
  const auto [chunk, first_row, step] = RowWalk::over_grid(out_chunks, rows);
  const LocalId count = *layer.num_nodes;
  const StepMask mask = StepMask::of(layer.dropout);
  const Columns columns = Columns::of(layer, chunk);
  const bool has_residual = layer.residual.data != nullptr;
  for (std::int64_t first = first_row; first < rows; first += kInFlight * step) {
    EightWords<T> words[kInFlight] = {}, more[kInFlight] = {};
    NodeId nodes[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const std::int64_t row = first + k * step;
      if (row >= count) continue;
      nodes[k] = mask.is_none() ? 0 : layer.nodes[row];
      if (chunk >= chunks) continue;
      words[k] = EightWords<T>::load(layer.z.as<const T>() + (row * chunks + chunk) * 8);
      if (has_residual) more[k] = EightWords<T>::load(layer.residual.as<const T>() + (row * chunks + chunk) * 8);
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const std::int64_t row = first + k * step;
      if (row >= rows) continue;
      float values[8] = {};
      if (row < count) {
        float addends[8];
        words[k].unpack(values);
        more[k].unpack(addends);
        unsigned positive = 0;
#pragma unroll
        for (unsigned c = 0; c < 8; ++c) {
          const float y = (values[c] - columns.mean[c]) * columns.scale[c] * columns.weight[c] + columns.bias[c];
          if (y > 0) positive |= 1U << c;
          values[c] = y > 0 ? y : y * layer.slope;
        }
        if (layer.positive != nullptr && chunk < chunks)
          layer.positive[row * chunks + chunk] = static_cast<std::uint8_t>(positive);
        if (!mask.is_none() && chunk < chunks) {
          const unsigned bits = mask.kept(nodes[k], chunk);
          layer.kept[row * chunks + chunk] = static_cast<std::uint8_t>(bits);
          keep(bits, mask.mask.scale, values);
        }
#pragma unroll
        for (int c = 0; c < 8; ++c) {
          if (has_residual) values[c] += addends[c];
          if (chunk * 8 + c == layer.columns) values[c] = 1;
        }
      }
      store_eight(values, layer.out.as<T>() + (row * out_chunks + chunk) * 8);
    }
  }
}

/// What the gradients of rows are computed from.
struct NormGradient {
  NormLayer layer;
  Matrix gradient;  ///< of what the layer passes on
};

/// A thread's chunk of the next rows of a walk, requested together.
template <class T>
struct GradientRows {
  EightWords<T> z[kInFlight], gradient[kInFlight];
  unsigned kept[kInFlight];

  __device__ GradientRows(const NormGradient& norm, const RowWalk& walk, std::int64_t count) {
    const bool has_mask = norm.layer.dropout.threshold != 0;
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const std::int64_t row = walk.first + k * walk.step;
      if (row >= count) continue;
      z[k] = EightWords<T>::load(norm.layer.z.as<const T>() + row * norm.layer.z.width + walk.chunk * 8);
      gradient[k] = EightWords<T>::load(norm.gradient.as<const T>() + row * norm.gradient.width + walk.chunk * 8);
      kept[k] = has_mask ? norm.layer.kept[row * norm.layer.z.width / 8 + walk.chunk] : 0xFF;
    }
  }
};

/// What a row's gradient takes from the layer, of one chunk.
struct NormChunk {
  Columns columns;
  std::int64_t chunk, width;  ///< width: columns of the layer
  float slope, scale;         ///< scale: of what the dropout keeps

  __device__ static NormChunk of(const NormLayer& layer, std::int64_t chunk) {
    const float scale = layer.dropout.threshold == 0 ? 1.0f : layer.dropout.scale;
    return {Columns::of(layer, chunk), chunk, layer.columns, layer.slope, scale};
  }
  /// Of row k: its normalised values, and the gradient behind dropout and leaky_relu, of what they were scaled to.
  template <class T>
  __device__ void take(const GradientRows<T>& rows, int k, float (&normalised)[8], float (&values)[8]) const {
    rows.z[k].unpack(normalised);
    rows.gradient[k].unpack(values);
    keep(rows.kept[k], scale, values);
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      normalised[c] = (normalised[c] - columns.mean[c]) * columns.scale[c];
      if (!(normalised[c] * columns.weight[c] + columns.bias[c] > 0)) values[c] *= slope;
      if (chunk * 8 + c >= width) values[c] = 0;
    }
  }
};

/// The sums of the gradient before the scaling, plain and times the normalised value.
template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock, 2) gradient_sums_kernel(NormGradient norm) {
  const NormLayer& layer = norm.layer;
  RowWalk walk{std::int64_t{blockIdx.y} * kTileChunks + threadIdx.x % kTileChunks,
               std::int64_t{blockIdx.x} * kTileRows + threadIdx.x / kTileChunks, kShares * kTileRows};
  ColumnSums sums;
  if (walk.chunk < layer.z.width / 8) {
    const LocalId count = *layer.num_nodes;
    const NormChunk chunk = NormChunk::of(layer, walk.chunk);
    for (; walk.first < count; walk.first += kInFlight * walk.step) {
      const GradientRows<T> rows(norm, walk, count);
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        if (walk.first + k * walk.step >= count) continue;
        float normalised[8], values[8];
        chunk.take(rows, k, normalised, values);
#pragma unroll
        for (int c = 0; c < 8; ++c) {
          sums.first[c] += values[c];
          sums.second[c] += values[c] * normalised[c];
        }
      }
    }
  }
  write_share<kTileChunks>(sums, layer.z.width, layer.sums);
}

/// The parameters' gradients; the sums as means in statistics[2], [3].
__global__ void __launch_bounds__(kTotalsThreads) parameter_gradients_kernel(NormLayer layer) {
  const std::int64_t width = layer.z.width, column = std::int64_t{blockIdx.x} * 32 + threadIdx.x % 32;
  const ColumnTotals sums = totals_of(layer.sums, kShares, width);
  if (threadIdx.x >= 32 || column >= layer.columns) return;
  const LocalId count = *layer.num_distinct;
  layer.tensors.bias_gradient[column] = static_cast<float>(sums.first);
  layer.tensors.weight_gradient[column] = static_cast<float>(sums.second);
  layer.statistics[2 * width + column] = count < 2 ? 0.0f : static_cast<float>(sums.first / count);
  layer.statistics[3 * width + column] = count < 2 ? 0.0f : static_cast<float>(sums.second / count);
}

/// dz: the gradient of z.
template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    finish_gradient_kernel(NormGradient norm, Matrix dz, std::int64_t rows) {
  const NormLayer& layer = norm.layer;
  const std::int64_t chunks = layer.z.width / 8;
  RowWalk walk = RowWalk::over_grid(chunks, rows);
  const LocalId count = *layer.num_nodes;
  const NormChunk chunk = NormChunk::of(layer, walk.chunk);
  float mean[8], product[8];
  load_columns(layer.statistics + 2 * layer.z.width, walk.chunk, layer.columns, mean);
  load_columns(layer.statistics + 3 * layer.z.width, walk.chunk, layer.columns, product);
  for (; walk.first < rows; walk.first += kInFlight * walk.step) {
    const GradientRows<T> some(norm, walk, count);
    float shares[kInFlight];  // of what comes from the statistics
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const std::int64_t row = walk.first + k * walk.step;
      shares[k] = row < count && layer.first[row] != 0 ? 1.0f : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const std::int64_t row = walk.first + k * walk.step;
      if (row >= rows) continue;
      float values[8] = {};
      if (row < count) {
        float normalised[8];
        chunk.take(some, k, normalised, values);
#pragma unroll
        for (int c = 0; c < 8; ++c)
          values[c] = chunk.columns.weight[c] * chunk.columns.scale[c] *
                      (values[c] - shares[k] * (mean[c] + normalised[c] * product[c]));
      }
      store_eight(values, dz.as<T>() + (row * chunks + walk.chunk) * 8);
    }
  }
}

// ---- host code -------------------------------------------------------------------------------------------

unsigned tiles_of(std::int64_t width) { return static_cast<unsigned>((width + kTileColumns - 1) / kTileColumns); }
unsigned warps_of(std::int64_t columns) { return static_cast<unsigned>((columns + 31) / 32); }

template <class T>
void launch_forward(const NormLayer& layer, std::int64_t rows, cudaStream_t stream) {
  if (layer.first != nullptr) {
    moments_kernel<T><<<dim3(kShares, tiles_of(layer.z.width)), kThreadsPerBlock, 0, stream>>>(layer);
    cuda_check(cudaGetLastError());
  }
  statistics_kernel<T><<<warps_of(layer.columns), kTotalsThreads, 0, stream>>>(layer);
  cuda_check(cudaGetLastError());
  norm_apply(layer, rows, stream);
}

template <class T>
void launch_backward(const NormLayer& layer, const Matrix& gradient, const Matrix& dz, std::int64_t rows,
                     cudaStream_t stream) {
  const NormGradient norm{layer, gradient};
  gradient_sums_kernel<T><<<dim3(kShares, tiles_of(layer.z.width)), kThreadsPerBlock, 0, stream>>>(norm);
  cuda_check(cudaGetLastError());
  parameter_gradients_kernel<<<warps_of(layer.columns), kTotalsThreads, 0, stream>>>(layer);
  cuda_check(cudaGetLastError());
  finish_gradient_kernel<T><<<walkers_of(rows, layer.z.width), kThreadsPerBlock, 0, stream>>>(norm, dz, rows);
  cuda_check(cudaGetLastError());
}

}  // namespace

std::int64_t norm_sums_size(std::int64_t columns) { return kShares * 2 * padded(columns); }

void norm_forward(const NormLayer& layer, std::int64_t rows, cudaStream_t stream) {
  layer.z.type == ActivationType::kF32 ? launch_forward<float>(layer, rows, stream)
                                       : launch_forward<Bf16>(layer, rows, stream);
}

void norm_apply(const NormLayer& layer, std::int64_t rows, cudaStream_t stream) {
  const auto kernel = layer.z.type == ActivationType::kF32 ? apply_kernel<float> : apply_kernel<Bf16>;
  kernel<<<walkers_of(rows, layer.out.width), kThreadsPerBlock, 0, stream>>>(layer, rows);
  cuda_check(cudaGetLastError());
}

void norm_backward(const NormLayer& layer, const Matrix& gradient, const Matrix& dz, std::int64_t rows,
                   cudaStream_t stream) {
  layer.z.type == ActivationType::kF32 ? launch_backward<float>(layer, gradient, dz, rows, stream)
                                       : launch_backward<Bf16>(layer, gradient, dz, rows, stream);
}

}  // namespace salient
