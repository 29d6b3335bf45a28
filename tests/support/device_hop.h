// tests/support/device_hop.h - hops on the device, for the tests of kernels.
#pragma once

#include <cmath>
#include <vector>

#include "models/kernels/transpose.h"
#include "tests/support/device_copy.h"
#include "tests/support/hops.h"

namespace salient::test {

/// Empty ones, small ones, and hubs.
inline std::vector<OwnedHop> kernel_hops() {
  return {OwnedHop{0, 0},
          OwnedHop{0, 5},
          random_hop(1, 1, 1, 1),
          random_hop(7, 9, 3, 2),
          random_hop(300, 1000, 25, 3),
          random_hop(50, 60, 900, 4)};
}

/// Shows what was not written.
inline std::vector<float> poison(std::int64_t count) {
  return std::vector<float>(static_cast<std::size_t>(count), NAN);
}

class DeviceHop {
 public:
  DeviceHop(const OwnedHop& hop, const CudaStream& stream)
      : hop_(hop), indptr_(hop.indptr, stream), indices_(hop.indices, stream) {}
  HopEdges edges() const { return {indptr_.get(), indices_.get(), hop_.num_dst, hop_.num_src}; }

 private:
  const OwnedHop& hop_;
  OnDevice<LocalId> indptr_, indices_;
};

/// The edges by source, sorted on the device.
class DeviceSourceEdges {
 public:
  DeviceSourceEdges(const OwnedHop& hop, const DeviceHop& on_device, const CudaStream& stream)
      : num_edges_(static_cast<std::int64_t>(hop.indices.size())),
        indptr_(std::vector<LocalId>(static_cast<std::size_t>(hop.num_src) + 1), stream),
        destination_(hop.indices, stream),
        edge_(hop.indices, stream),
        keys_(hop.indices, stream),
        scratch_(std::vector<LocalId>(transpose_scratch_bytes(num_edges_) / sizeof(LocalId) + 1), stream) {
    transpose(on_device.edges(), num_edges_,
              {indptr_.get(), destination_.get(), edge_.get(), keys_.get(), scratch_.get(),
               transpose_scratch_bytes(num_edges_)},
              stream.get());
  }
  SourceEdges edges() const { return {indptr_.get(), destination_.get(), edge_.get()}; }
  TransposedHop read(const CudaStream& stream) const {
    return {indptr_.read(stream), destination_.read(stream), edge_.read(stream)};
  }

 private:
  std::int64_t num_edges_;
  OnDevice<LocalId> indptr_, destination_, edge_, keys_, scratch_;
};

}  // namespace salient::test
