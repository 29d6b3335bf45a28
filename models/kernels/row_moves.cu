// models/kernels/row_moves.cu - see row_moves.h.
//
// Work split  a group of lanes per row, as in segment.cu; grid stride over rows.
// Access      16-byte words where rows consist of them.
// Limit       memory: every row is read once and written once.
// Sync        none.
#include "core/cuda/cuda.h"
#include "models/kernels/launch.cuh"
#include "models/kernels/row_moves.h"
#include "models/kernels/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

enum class Move : std::uint8_t { kTake, kPut };

template <Move kMove, class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    move_kernel(const LocalId* __restrict__ place, std::int64_t count, std::int64_t row_words,
                const Word* __restrict__ from, Word* __restrict__ to, RowGroup group) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock >> group.log_lanes;
  const int lane = static_cast<int>(thread) & (group.lanes() - 1);
  for (std::int64_t i = thread >> group.log_lanes; i < count; i += stride) {
    const std::int64_t listed = __ldg(place + i);
    const Word* const source = from + (kMove == Move::kTake ? listed : i) * row_words;
    Word* const target = to + (kMove == Move::kTake ? i : listed) * row_words;
    for (std::int64_t w = lane; w < row_words; w += group.lanes()) target[w] = __ldg(source + w);
  }
}

__global__ void __launch_bounds__(kThreadsPerBlock) table_kernel(RowPlaces places, const NodeId* __restrict__ nodes,
                                                                 std::int64_t first, std::int64_t* __restrict__ to) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; i < places.count; i += stride)
    to[i] = std::int64_t{__ldg(nodes + __ldg(places.place + i))} - first;
}

// ---- host code -------------------------------------------------------------------------------------------

template <Move kMove, class Word>
void launch(const RowPlaces& places, const float* from, float* to, cudaStream_t stream) {
  const std::int64_t row_words = places.width * std::int64_t{sizeof(float)} / std::int64_t{sizeof(Word)};
  const RowGroup group = RowGroup::make(row_words);
  move_kernel<kMove, Word><<<blocks_for(places.count << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
      places.place, places.count, row_words, as_words<Word>(from), as_words<Word>(to), group);
  cuda_check(cudaGetLastError());
}

template <Move kMove>
void move_rows(const RowPlaces& places, const float* from, float* to, cudaStream_t stream) {
  if (places.count == 0 || places.width == 0) return;
  const bool has_words = is_packable<float, 4>(from, places.width) && is_packable<float, 4>(to, places.width);
  has_words ? launch<kMove, float4>(places, from, to, stream) : launch<kMove, float>(places, from, to, stream);
}

}  // namespace

void take_rows(const RowPlaces& places, const float* from, float* to, cudaStream_t stream) {
  move_rows<Move::kTake>(places, from, to, stream);
}

void put_rows(const RowPlaces& places, const float* from, float* to, cudaStream_t stream) {
  move_rows<Move::kPut>(places, from, to, stream);
}

void places_in_table(const RowPlaces& places, const NodeId* nodes, std::int64_t first, std::int64_t* to,
                     cudaStream_t stream) {
  if (places.count == 0) return;
  table_kernel<<<blocks_for(places.count), kThreadsPerBlock, 0, stream>>>(places, nodes, first, to);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
