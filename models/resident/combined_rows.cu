// models/resident/combined_rows.cu - see combined_rows.h.
//
// Work split  a thread per chunk of eight columns of a row; grid stride.
// Access      rows behind each other, in words of 16 or 32 bytes.
// Limit       memory; of the seeds' rows, which are few, latency.
// Sync        none.
#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/combined_rows.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

/// chunk_of(row, chunk) for all chunks of `rows` rows.
template <class OfChunk>
__device__ void for_each_chunk(std::int64_t rows, std::int64_t chunks, OfChunk of_chunk) {
  for (std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; t < rows * chunks;
       t += std::int64_t{gridDim.x} * kThreadsPerBlock)
    of_chunk(t / chunks, t % chunks);
}

template <class T>
__device__ void load_chunk(const RowAddend& rows, std::int64_t row, std::int64_t chunk, float (&values)[8]) {
  load_eight(static_cast<const T*>(rows.rows) + row * rows.stride + chunk * 8, values);
}

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    add_rows_kernel(Matrix to, std::int64_t chunks, RowAddend addend, const LocalId* num_nodes, std::int64_t rows) {
  for_each_chunk(min(std::int64_t{*num_nodes}, rows), chunks, [&](std::int64_t row, std::int64_t chunk) {
    T* const at = to.as<T>() + row * to.width + chunk * 8;
    float values[8], more[8];
    load_eight(at, values);
    load_chunk<T>(addend, row, chunk, more);
#pragma unroll
    for (int c = 0; c < 8; ++c) values[c] += more[c];
    store_eight(values, at);
  });
}

/// The column of ones behind `chunks` chunks, and zeros.
__device__ void ones_behind(std::int64_t chunk, std::int64_t chunks, bool is_node, float (&values)[8]) {
  if (chunk == chunks && is_node) values[0] = 1;
}

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    concat_rows_kernel(JoinedRows joined, Matrix out, std::int64_t rows) {
  const std::int64_t of_layer = joined.columns / 8, chunks = of_layer * joined.num_layers;
  for_each_chunk(rows, out.width / 8, [&](std::int64_t row, std::int64_t chunk) {
    const bool is_node = row < *joined.num_nodes;
    float values[8] = {};
    if (is_node && chunk < chunks) load_chunk<T>(joined.layers[chunk / of_layer], row, chunk % of_layer, values);
    ones_behind(chunk, chunks, is_node, values);
    store_eight(values, out.as<T>() + row * out.width + chunk * 8);
  });
}

/// The largest of the layers' values in a chunk, and whose it is: of equal ones the first. One that is not a number is
/// larger than all others.
struct Largest {
  float values[8];
  int layer[8];

  template <class T>
  __device__ static Largest of(const JoinedRows& joined, std::int64_t row, std::int64_t chunk) {
    Largest result{};
    load_chunk<T>(joined.layers[0], row, chunk, result.values);
    for (int layer = 1; layer < joined.num_layers; ++layer) {
      float more[8];
      load_chunk<T>(joined.layers[layer], row, chunk, more);
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        if (more[c] <= result.values[c] || result.values[c] != result.values[c]) continue;
        result.values[c] = more[c];
        result.layer[c] = layer;
      }
    }
    return result;
  }
};

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock) max_rows_kernel(JoinedRows joined, Matrix out, std::int64_t rows) {
  const std::int64_t chunks = joined.columns / 8;
  for_each_chunk(rows, out.width / 8, [&](std::int64_t row, std::int64_t chunk) {
    const bool is_node = row < *joined.num_nodes;
    Largest largest{};
    if (is_node && chunk < chunks) largest = Largest::of<T>(joined, row, chunk);
    ones_behind(chunk, chunks, is_node, largest.values);
    store_eight(largest.values, out.as<T>() + row * out.width + chunk * 8);
  });
}

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    max_rows_gradient_kernel(JoinedRows joined, Matrix gradient, Matrix to, std::int64_t rows) {
  const std::int64_t chunks = joined.columns / 8;
  for_each_chunk(rows, chunks, [&](std::int64_t row, std::int64_t chunk) {
    const bool is_node = row < *joined.num_nodes;
    Largest largest{};
    float by_out[8] = {};
    if (is_node) largest = Largest::of<T>(joined, row, chunk);
    if (is_node) load_eight(gradient.as<const T>() + row * gradient.width + chunk * 8, by_out);
    for (int layer = 0; layer < joined.num_layers; ++layer) {
      float values[8];
#pragma unroll
      for (int c = 0; c < 8; ++c) values[c] = largest.layer[c] == layer ? by_out[c] : 0.0f;
      store_eight(values, to.as<T>() + row * to.width + layer * joined.columns + chunk * 8);
    }
  });
}

// ---- host code -------------------------------------------------------------------------------------------

unsigned blocks_of(std::int64_t rows, std::int64_t width) { return std::max(1U, blocks_for(rows * width / 8)); }

void launch(void (*kernel)(JoinedRows, Matrix, std::int64_t), const JoinedRows& joined, const Matrix& out,
            std::int64_t rows, cudaStream_t stream) {
  kernel<<<blocks_of(rows, out.width), kThreadsPerBlock, 0, stream>>>(joined, out, rows);
  cuda_check(cudaGetLastError());
}

}  // namespace

void add_rows(const Matrix& to, std::int64_t columns, const RowAddend& addend, const LocalId* num_nodes,
              std::int64_t rows, cudaStream_t stream) {
  const auto kernel = to.type == ActivationType::kF32 ? add_rows_kernel<float> : add_rows_kernel<Bf16>;
  kernel<<<blocks_of(rows, columns), kThreadsPerBlock, 0, stream>>>(to, columns / 8, addend, num_nodes, rows);
  cuda_check(cudaGetLastError());
}

void concat_rows(const JoinedRows& joined, const Matrix& out, std::int64_t rows, cudaStream_t stream) {
  launch(out.type == ActivationType::kF32 ? concat_rows_kernel<float> : concat_rows_kernel<Bf16>, joined, out, rows,
         stream);
}

void max_rows(const JoinedRows& joined, const Matrix& out, std::int64_t rows, cudaStream_t stream) {
  launch(out.type == ActivationType::kF32 ? max_rows_kernel<float> : max_rows_kernel<Bf16>, joined, out, rows, stream);
}

void max_rows_backward(const JoinedRows& joined, const Matrix& gradient, const Matrix& to, std::int64_t rows,
                       cudaStream_t stream) {
  const auto kernel =
      to.type == ActivationType::kF32 ? max_rows_gradient_kernel<float> : max_rows_gradient_kernel<Bf16>;
  kernel<<<blocks_of(rows, joined.columns), kThreadsPerBlock, 0, stream>>>(joined, gradient, to, rows);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
