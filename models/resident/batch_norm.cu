// models/resident/batch_norm.cu - see batch_norm.h.
//
// Work split  sums: a block per tile of 64 columns and share of the rows, a lane per chunk of eight columns, then eight
//             threads per column add the shares up. Elsewhere a lane per chunk of a row.
// Access      rows behind each other, in words of 16 or 32 bytes.
// Limit       memory: forward z twice and the result; backward z, its gradient and the result, then both again.
// Sync        a block's rows meet in shared memory.
#include "models/kernels/launch.cuh"
#include "models/resident/batch_norm.h"
#include "models/resident/column_sums.cuh"
#include "models/resident/masks.cuh"
#include "models/resident/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kShares = 256;  // of the rows, of a tile of columns
constexpr int kTileChunks = 8, kTileColumns = 8 * kTileChunks, kTileRows = kThreadsPerBlock / kTileChunks;
constexpr float kMomentum = 0.1f, kEpsilon = 1e-5f;

/// Sums of z - shift and of its square, of distinct nodes; the shift is row 0, against cancellation.
template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock) moments_kernel(NormLayer layer) {
  const std::int64_t chunks = layer.z.width / 8;
  const std::int64_t chunk = std::int64_t{blockIdx.y} * kTileChunks + threadIdx.x % kTileChunks;
  const T* const z = layer.z.as<const T>();
  ColumnSums sums;
  if (chunk < chunks) {
    float shift[8];
    load_eight(z + chunk * 8, shift);
    for (std::int64_t row = std::int64_t{blockIdx.x} * kTileRows + threadIdx.x / kTileChunks; row < *layer.num_nodes;
         row += kShares * kTileRows) {
      if (layer.first[row] == 0) continue;
      float values[8];
      load_eight(z + (row * chunks + chunk) * 8, values);
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        const float difference = values[c] - shift[c];
        sums.first[c] += difference;
        sums.second[c] += difference * difference;
      }
    }
  }
  write_share<kTileChunks>(sums, layer.z.width, layer.sums);
}

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock) statistics_kernel(NormLayer layer) {
  const std::int64_t width = layer.z.width, column = std::int64_t{blockIdx.x} * 32 + threadIdx.x % 32;
  const ColumnTotals sums = totals_of(layer.sums, kShares, width);
  if (threadIdx.x >= 32 || column >= layer.columns) return;
  const LocalId count = *layer.num_distinct;
  if (column == 0 && count >= 2) ++*layer.tensors.num_batches_tracked;
  float* const mean_of = layer.statistics;
  float* const scale_of = layer.statistics + width;
  if (count < 2) {
    mean_of[column] = layer.tensors.running_mean[column];
    scale_of[column] = 1.0f / sqrtf(layer.tensors.running_var[column] + kEpsilon);
    return;
  }
  const double shifted = sums.first / count;
  const double variance = max(0.0, sums.second / count - shifted * shifted);
  const double mean = static_cast<double>(static_cast<float>(layer.z.as<const T>()[column])) + shifted;
  mean_of[column] = static_cast<float>(mean);
  scale_of[column] = static_cast<float>(1 / sqrt(variance + kEpsilon));
  float& running_mean = layer.tensors.running_mean[column];
  float& running_var = layer.tensors.running_var[column];
  running_mean += kMomentum * (static_cast<float>(mean) - running_mean);
  running_var += kMomentum * (static_cast<float>(variance * count / (count - 1)) - running_var);
}

/// What normalises a chunk.
struct Columns {
  float mean[8], scale[8], weight[8], bias[8];

  __device__ static Columns of(const NormLayer& layer, std::int64_t chunk) {
    Columns result;
    load_columns(layer.statistics, chunk, layer.columns, result.mean);
    load_columns(layer.statistics + layer.z.width, chunk, layer.columns, result.scale);
    load_columns(layer.tensors.weight, chunk, layer.columns, result.weight);
    load_columns(layer.tensors.bias, chunk, layer.columns, result.bias);
    return result;
  }
};

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock) apply_kernel(NormLayer layer, std::int64_t rows) {
  const std::int64_t chunks = layer.z.width / 8, out_chunks = layer.out.width / 8;
  const std::int64_t chunk = std::int64_t{blockIdx.y} * kTileChunks + threadIdx.x % kTileChunks;
  if (chunk >= out_chunks) return;
  const StepMask mask = StepMask::of(layer.dropout);
  const Columns columns = Columns::of(layer, chunk);
  for (std::int64_t row = std::int64_t{blockIdx.x} * kTileRows + threadIdx.x / kTileChunks; row < rows;
       row += std::int64_t{gridDim.x} * kTileRows) {
    float values[8] = {};
    if (row < *layer.num_nodes) {
      if (chunk < chunks) load_eight(layer.z.as<const T>() + (row * chunks + chunk) * 8, values);
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        const float y = (values[c] - columns.mean[c]) * columns.scale[c] * columns.weight[c] + columns.bias[c];
        values[c] = y > 0 ? y : y * layer.slope;
      }
      mask.apply(layer.nodes[row], chunk, values);
      if (layer.residual.data != nullptr && chunk < chunks) {
        float more[8];
        load_eight(layer.residual.as<const T>() + (row * chunks + chunk) * 8, more);
#pragma unroll
        for (int c = 0; c < 8; ++c) values[c] += more[c];
      }
#pragma unroll
      for (int c = 0; c < 8; ++c)
        if (chunk * 8 + c == layer.columns) values[c] = 1;
    }
    store_eight(values, layer.out.as<T>() + (row * out_chunks + chunk) * 8);
  }
}

/// dz = the gradient before the normalisation, and its sums, plain and times the normalised value.
template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    gradient_sums_kernel(NormLayer layer, Matrix gradient, Matrix dz, std::int64_t rows) {
  const std::int64_t chunks = layer.z.width / 8;
  const std::int64_t chunk = std::int64_t{blockIdx.y} * kTileChunks + threadIdx.x % kTileChunks;
  ColumnSums sums;
  if (chunk < chunks) {
    const StepMask mask = StepMask::of(layer.dropout);
    const Columns columns = Columns::of(layer, chunk);
    for (std::int64_t row = std::int64_t{blockIdx.x} * kTileRows + threadIdx.x / kTileChunks; row < rows;
         row += kShares * kTileRows) {
      float values[8] = {};
      if (row < *layer.num_nodes) {
        float z[8];
        load_eight(layer.z.as<const T>() + (row * chunks + chunk) * 8, z);
        load_eight(gradient.as<const T>() + row * gradient.width + chunk * 8, values);
        mask.apply(layer.nodes[row], chunk, values);
#pragma unroll
        for (int c = 0; c < 8; ++c) {
          const float normalised = (z[c] - columns.mean[c]) * columns.scale[c];
          if (!(normalised * columns.weight[c] + columns.bias[c] > 0)) values[c] *= layer.slope;
          if (chunk * 8 + c >= layer.columns) values[c] = 0;
          sums.first[c] += values[c];
          sums.second[c] += values[c] * normalised;
        }
      }
      store_eight(values, dz.as<T>() + (row * chunks + chunk) * 8);
    }
  }
  write_share<kTileChunks>(sums, layer.z.width, layer.sums);
}

/// The parameters' gradients; the sums as means in statistics[2], [3].
__global__ void __launch_bounds__(kThreadsPerBlock) parameter_gradients_kernel(NormLayer layer) {
  const std::int64_t width = layer.z.width, column = std::int64_t{blockIdx.x} * 32 + threadIdx.x % 32;
  const ColumnTotals sums = totals_of(layer.sums, kShares, width);
  if (threadIdx.x >= 32 || column >= layer.columns) return;
  const LocalId count = *layer.num_distinct;
  layer.tensors.bias_gradient[column] = static_cast<float>(sums.first);
  layer.tensors.weight_gradient[column] = static_cast<float>(sums.second);
  layer.statistics[2 * width + column] = count < 2 ? 0.0f : static_cast<float>(sums.first / count);
  layer.statistics[3 * width + column] = count < 2 ? 0.0f : static_cast<float>(sums.second / count);
}

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock) finish_gradient_kernel(NormLayer layer, Matrix dz) {
  const std::int64_t chunks = layer.z.width / 8;
  const std::int64_t chunk = std::int64_t{blockIdx.y} * kTileChunks + threadIdx.x % kTileChunks;
  if (chunk >= chunks) return;
  const Columns columns = Columns::of(layer, chunk);
  float mean[8], product[8];
  load_columns(layer.statistics + 2 * layer.z.width, chunk, layer.columns, mean);
  load_columns(layer.statistics + 3 * layer.z.width, chunk, layer.columns, product);
  for (std::int64_t row = std::int64_t{blockIdx.x} * kTileRows + threadIdx.x / kTileChunks; row < *layer.num_nodes;
       row += std::int64_t{gridDim.x} * kTileRows) {
    T* const at = dz.as<T>() + (row * chunks + chunk) * 8;
    float values[8], z[8];
    load_eight(at, values);
    load_eight(layer.z.as<const T>() + (row * chunks + chunk) * 8, z);
    const float share = layer.first[row] != 0 ? 1.0f : 0.0f;
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      const float normalised = (z[c] - columns.mean[c]) * columns.scale[c];
      values[c] = columns.weight[c] * columns.scale[c] * (values[c] - share * (mean[c] + normalised * product[c]));
    }
    store_eight(values, at);
  }
}

// ---- host code -------------------------------------------------------------------------------------------

unsigned tiles_of(std::int64_t width) { return static_cast<unsigned>((width + kTileColumns - 1) / kTileColumns); }
unsigned warps_of(std::int64_t columns) { return static_cast<unsigned>((columns + 31) / 32); }
dim3 row_grid(std::int64_t rows, std::int64_t width) { return {blocks_for(rows * kTileChunks), tiles_of(width)}; }

template <class T>
void launch_forward(const NormLayer& layer, std::int64_t rows, cudaStream_t stream) {
  if (layer.first != nullptr) {
    moments_kernel<T><<<dim3(kShares, tiles_of(layer.z.width)), kThreadsPerBlock, 0, stream>>>(layer);
    cuda_check(cudaGetLastError());
  }
  statistics_kernel<T><<<warps_of(layer.columns), kThreadsPerBlock, 0, stream>>>(layer);
  cuda_check(cudaGetLastError());
  apply_kernel<T><<<row_grid(rows, layer.out.width), kThreadsPerBlock, 0, stream>>>(layer, rows);
  cuda_check(cudaGetLastError());
}

template <class T>
void launch_backward(const NormLayer& layer, const Matrix& gradient, const Matrix& dz, std::int64_t rows,
                     cudaStream_t stream) {
  gradient_sums_kernel<T>
      <<<dim3(kShares, tiles_of(layer.z.width)), kThreadsPerBlock, 0, stream>>>(layer, gradient, dz, rows);
  cuda_check(cudaGetLastError());
  parameter_gradients_kernel<<<warps_of(layer.columns), kThreadsPerBlock, 0, stream>>>(layer);
  cuda_check(cudaGetLastError());
  finish_gradient_kernel<T><<<row_grid(rows, layer.z.width), kThreadsPerBlock, 0, stream>>>(layer, dz);
  cuda_check(cudaGetLastError());
}

}  // namespace

std::int64_t norm_sums_size(std::int64_t columns) { return kShares * 2 * padded(columns); }

void norm_forward(const NormLayer& layer, std::int64_t rows, cudaStream_t stream) {
  layer.z.type == ActivationType::kF32 ? launch_forward<float>(layer, rows, stream)
                                       : launch_forward<Bf16>(layer, rows, stream);
}

void norm_backward(const NormLayer& layer, const Matrix& gradient, const Matrix& dz, std::int64_t rows,
                   cudaStream_t stream) {
  layer.z.type == ActivationType::kF32 ? launch_backward<float>(layer, gradient, dz, rows, stream)
                                       : launch_backward<Bf16>(layer, gradient, dz, rows, stream);
}

}  // namespace salient
