// models/exact/row_ring.cuh - chunks of rows on their way to a warp: asynchronous copies into shared memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "models/kernels/launch.cuh"

namespace salient {

/// What a lane does for a row: a chunk of eight columns of every parts-th entry.
struct RowLanes {
  int in_warp, index, part, parts;  ///< index of `parts` groups of lanes in the group
  int chunk = 0;

  __device__ explicit RowLanes(RowGroup group)
      : in_warp(static_cast<int>(threadIdx.x) & 31),
        index(in_warp & (group.lanes() - 1)),
        part(in_warp >> group.log_lanes),
        parts(32 >> group.log_lanes) {}

  /// The sums of all parts, in each of them.
  __device__ void add_parts(float (&sums)[8]) const {
    for (int offset = 32 / parts; offset < 32; offset *= 2)
#pragma unroll
      for (float& sum : sums) sum += __shfl_xor_sync(~0U, sum, offset);
  }
};

/// A warp's ring of kDepth steps; in each a lane asks for one chunk at most, and gets its own alone, so that lanes do
/// not wait for each other.
template <class Chunk>
class RowRing {
 public:
  using Word = std::remove_cvref_t<decltype(Chunk{}.words[0])>;
  static constexpr int kDepth = sizeof(Chunk) > 16 ? 8 : 16;
  static constexpr int kBytes = kDepth * 32 * int{sizeof(Chunk)};  ///< of a warp

  /// @param memory  kBytes for each of the block's warps
  __device__ explicit RowRing(void* memory)
      : slots_(static_cast<Chunk*>(memory) + (threadIdx.x >> 5) * kDepth * 32 + (threadIdx.x & 31)) {}

  /// Columns behind the row's end become zeros.
  template <class T>
  __device__ void ask(const T* row, int width, int chunk) {
    constexpr int kWords = sizeof(Chunk) / sizeof(Word), kPack = 8 / kWords;
    Chunk& slot = slots_[asked_ * 32];
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const int column = chunk * 8 + i * kPack;
      const bool is_there = column < width;
      copy(reinterpret_cast<const Word*>(row + (is_there ? column : 0)), is_there, &slot.words[i]);
    }
  }
  /// To be called kDepth - 1 times before the first wait(), and before every one.
  __device__ void close_step() {
    asm volatile("cp.async.commit_group;" ::: "memory");
    asked_ = asked_ + 1 == kDepth ? 0 : asked_ + 1;
  }
  __device__ void wait() const { asm volatile("cp.async.wait_group %0;" ::"n"(kDepth - 1) : "memory"); }
  __device__ const Chunk& oldest() const { return slots_[oldest_ * 32]; }
  __device__ void pop() { oldest_ = oldest_ + 1 == kDepth ? 0 : oldest_ + 1; }
  /// When all that was asked for is popped.
  __device__ void clear() {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    oldest_ = asked_;
  }

 private:
  __device__ static void copy(const Word* from, bool is_there, Word* to) {
    if constexpr (sizeof(Word) >= 4) {
      const auto at = static_cast<unsigned>(__cvta_generic_to_shared(to));
      const unsigned size = is_there ? sizeof(Word) : 0;
      if constexpr (sizeof(Word) == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(size) : "memory");
      else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(at), "l"(from), "r"(size), "n"(sizeof(Word))
                     : "memory");
    } else {
      *to = is_there ? __ldg(from) : Word{};  // narrower than what is copied asynchronously
    }
  }

  Chunk* const slots_;
  int asked_ = 0, oldest_ = 0;
};

}  // namespace salient
