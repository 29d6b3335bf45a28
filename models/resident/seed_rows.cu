// models/resident/seed_rows.cu - see seed_rows.h.
//
// Work split  a thread per chunk of eight columns of a row; grid stride.
// Access      rows behind each other, in words of 16 or 32 bytes.
// Limit       memory.
// Sync        none.
#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/masks.cuh"
#include "models/resident/seed_rows.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock) activate_kernel(ReluLayer a, std::int64_t rows) {
  const std::int64_t chunks = a.z.width / 8, out_chunks = a.out.width / 8;
  const StepMask mask = StepMask::of(a.dropout);
  const LocalId count = *a.num_nodes;
  for (std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; t < rows * out_chunks;
       t += std::int64_t{gridDim.x} * kThreadsPerBlock) {
    const std::int64_t row = t / out_chunks, chunk = t % out_chunks;
    float values[8] = {};
    if (row < count && chunk < chunks) {
      load_eight(a.z.as<const T>() + (row * chunks + chunk) * 8, values);
      float more[8] = {};
      if (a.addend.data != nullptr) load_eight(a.addend.as<const T>() + row * a.addend.width + chunk * 8, more);
#pragma unroll
      for (int c = 0; c < 8; ++c) values[c] = values[c] + more[c] <= 0 ? 0.0f : values[c] + more[c];
      mask.apply(a.nodes[row], chunk, values);
    } else if (row < count) {
      values[0] = 1;
    }
    store_eight(values, a.out.as<T>() + t * 8);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    activation_backward_kernel(ReluLayer a, Matrix gradient, Matrix dz, std::int64_t rows) {
  const std::int64_t chunks = a.z.width / 8, out_chunks = a.out.width / 8;
  const float scale = a.dropout.threshold == 0 ? 1.0f : a.dropout.scale;
  for (std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; t < rows * chunks;
       t += std::int64_t{gridDim.x} * kThreadsPerBlock) {
    const std::int64_t row = t / chunks, chunk = t % chunks;
    float values[8] = {}, out[8];
    if (row < *a.num_nodes) {
      load_eight(a.out.as<const T>() + (row * out_chunks + chunk) * 8, out);
      load_eight(gradient.as<const T>() + row * gradient.width + chunk * 8, values);
#pragma unroll
      for (int c = 0; c < 8; ++c) values[c] = out[c] > 0 ? values[c] * scale : 0.0f;
    }
    store_eight(values, dz.as<T>() + t * 8);
  }
}

/// Rows of chunks of eight columns. Strides in elements.
template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    copy_kernel(const T* __restrict__ from, std::int64_t from_stride, T* __restrict__ to, std::int64_t to_stride,
                std::int64_t chunks, std::int64_t rows) {
  for (std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; t < rows * chunks;
       t += std::int64_t{gridDim.x} * kThreadsPerBlock) {
    float values[8];
    load_eight(from + t / chunks * from_stride + t % chunks * 8, values);
    store_eight(values, to + t / chunks * to_stride + t % chunks * 8);
  }
}

template <class T>
void launch_copy(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride, const dim3& shape,
                 cudaStream_t stream) {
  const std::int64_t chunks = shape.x, rows = shape.y;
  copy_kernel<T>
      <<<blocks_for(rows * chunks), kThreadsPerBlock, 0, stream>>>(from, from_stride, to, to_stride, chunks, rows);
  cuda_check(cudaGetLastError());
}

dim3 shape_of(const Matrix& part, std::int64_t rows) {
  return {static_cast<unsigned>(part.width / 8), static_cast<unsigned>(rows)};
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void activate_rows(const ReluLayer& activation, std::int64_t rows, cudaStream_t stream) {
  const auto kernel = activation.z.type == ActivationType::kF32 ? activate_kernel<float> : activate_kernel<Bf16>;
  kernel<<<blocks_for(rows * activation.out.width / 8), kThreadsPerBlock, 0, stream>>>(activation, rows);
  cuda_check(cudaGetLastError());
}

void activation_backward(const ReluLayer& activation, const Matrix& gradient, const Matrix& dz, std::int64_t rows,
                         cudaStream_t stream) {
  const auto kernel =
      activation.z.type == ActivationType::kF32 ? activation_backward_kernel<float> : activation_backward_kernel<Bf16>;
  kernel<<<blocks_for(rows * activation.z.width / 8), kThreadsPerBlock, 0, stream>>>(activation, gradient, dz, rows);
  cuda_check(cudaGetLastError());
}

void put_columns(const Matrix& part, const Matrix& whole, std::int64_t first_column, std::int64_t rows,
                 cudaStream_t stream) {
  const auto put = [&]<class T>(const T* from) {
    launch_copy(from, part.width, whole.as<T>() + first_column, whole.width, shape_of(part, rows), stream);
  };
  part.type == ActivationType::kF32 ? put(part.as<const float>()) : put(part.as<const Bf16>());
}

void take_columns(const Matrix& whole, std::int64_t first_column, const Matrix& part, std::int64_t rows,
                  cudaStream_t stream) {
  const auto take = [&]<class T>(const T* from) {
    launch_copy(from + first_column, whole.width, part.as<T>(), part.width, shape_of(part, rows), stream);
  };
  part.type == ActivationType::kF32 ? take(whole.as<const float>()) : take(whole.as<const Bf16>());
}

}  // namespace salient
