// loaders/near_copies.cpp - see near_copies.h.
#include "loaders/near_copies.h"

#include "core/cuda/cuda.h"
#include "core/error.h"
#include "loaders/gather_rows.h"

namespace salient {

void NearCopies::Free::operator()(NodeSetWord* memory) const noexcept { (void)cudaFree(memory); }

NearCopies::NearCopies(const Shards& shards, const std::vector<NodeId>& nodes)
    : nodes_(shards.table().num_rows, nodes), first_(shards.near_row()) {
  constexpr const char* kWhat = "the set of copied rows";
  const CudaStream stream;
  const auto words = nodes_.words();
  words_.reset(make_device_array<NodeSetWord>(words.size(), kWhat, Topic::kDeviceFeatures).release());
  cuda_check(cudaMemcpyAsync(words_.get(), words.data(), words.size_bytes(), cudaMemcpyHostToDevice, stream.get()));
  const auto rows = make_device_array<NodeId>(nodes.size(), kWhat, Topic::kDeviceFeatures);
  cuda_check(
      cudaMemcpyAsync(rows.get(), nodes.data(), nodes.size() * sizeof(NodeId), cudaMemcpyHostToDevice, stream.get()));
  const RowTable table = shards.table();
  auto* const to = const_cast<std::byte*>(table.row(first_));
  gather_rows(table, {nullptr, 0, table.row_bytes}, rows.get(), nodes.size(), to, stream.get());
  stream.wait();
}

}  // namespace salient
