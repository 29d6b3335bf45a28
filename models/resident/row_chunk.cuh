// models/resident/row_chunk.cuh - eight neighbouring columns of a row of a table, as the words that one lane loads.
#pragma once

#include <cstdint>

#include "models/kernels/launch.cuh"

namespace salient {

/// Columns [8 * chunk, 8 * chunk + 8) of a row, as words of kPack columns; zeros behind its end.
template <class T, int kPack>
struct Chunk {
  using P = Pack<T, kPack>;
  typename P::Word words[8 / kPack];

  __device__ static Chunk load(const T* row, std::int64_t width, std::int64_t chunk) {
    Chunk result{};
#pragma unroll
    for (int i = 0; i < 8 / kPack; ++i) {
      const std::int64_t column = chunk * 8 + i * kPack;
      if (column < width) result.words[i] = __ldg(reinterpret_cast<const typename P::Word*>(row + column));
    }
    return result;
  }
  __device__ void add_to(float (&sums)[8]) const {
#pragma unroll
    for (int i = 0; i < 8 / kPack; ++i) {
      float values[kPack];
      P::unpack(words[i], values);
#pragma unroll
      for (int k = 0; k < kPack; ++k) sums[i * kPack + k] += values[k];
    }
  }
};

}  // namespace salient
