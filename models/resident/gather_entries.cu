// models/resident/gather_entries.cu - see attention_v2.h.
//
// Work split  a group of lanes per row, a lane per chunk of eight columns.
// Access      rows of the feature table in random order.
// Limit       memory: a row read and an operand row written, per node and entry.
// Sync        none.
#include "models/resident/attention_v2.h"
#include "models/resident/row_source.cuh"

namespace salient {
namespace {

template <class T, int kPack, class Out>
__global__ void __launch_bounds__(kThreadsPerBlock)
    gather_kernel(TableSource<T, kPack> source, EntryRows rows, RowChoices choices, RowGroup group, std::int64_t chunks,
                  Out* __restrict__ out) {
  const auto reader = source.reader();
  if (choices.count > 0) {
    rows.capacity = choices.of[choices.index_for(reader.count)];
    rows.rows = rows.capacity * (1 + rows.hop.fanout);
  }
  const std::int64_t lane = threadIdx.x & (group.lanes() - 1), rows_per_block = kThreadsPerBlock >> group.log_lanes;
  for (std::int64_t row = std::int64_t{blockIdx.x} * rows_per_block + (threadIdx.x >> group.log_lanes); row < rows.rows;
       row += std::int64_t{gridDim.x} * rows_per_block) {
    const std::int64_t slot = row - rows.capacity;
    const std::int64_t i = slot < 0 ? row : slot / rows.hop.fanout;
    const auto k = static_cast<int>(slot - i * rows.hop.fanout);
    const bool is_row = i < reader.count && (slot < 0 || k < reader.num_entries(i));
    const RowRef ref = !is_row ? RowRef{} : slot < 0 ? reader.own(i) : reader.entry(i, k);
    for (std::int64_t chunk = lane; chunk < chunks; chunk += group.lanes()) {
      float values[8] = {};
      if (is_row) {
        reader.first_values(reader.load(ref, chunk), ref, chunk, values);
#pragma unroll
        for (int c = 0; c < 8; ++c)
          if (chunk * 8 + c == reader.width) values[c] = 1;
      }
      store_eight(values, out + (row * chunks + chunk) * 8);
    }
  }
}

}  // namespace

void gather_entries(const FeatureRows& features, const EntryRows& rows, const Matrix& out, cudaStream_t stream) {
  gather_entries(features, rows, RowChoices{}, out, stream);
}

void gather_entries(const FeatureRows& features, const EntryRows& rows, const RowChoices& choices, const Matrix& out,
                    cudaStream_t stream) {
  const std::int64_t chunks = out.width / 8;
  const RowGroup group = RowGroup::make(chunks);
  const unsigned blocks = blocks_for(rows.rows << group.log_lanes);
  with_table_source({rows.hop, features}, [&]<class T, int kPack>(const TableSource<T, kPack>& source) {
    if (out.type == ActivationType::kF32)
      gather_kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(source, rows, choices, group, chunks, out.as<float>());
    else
      gather_kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(source, rows, choices, group, chunks, out.as<Bf16>());
    cuda_check(cudaGetLastError());
  });
}

}  // namespace salient
