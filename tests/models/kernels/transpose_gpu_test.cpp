// tests/models/kernels/transpose_gpu_test.cpp - edges by source sorted on the device are the host's.
#include <gtest/gtest.h>

#include "models/kernels/transpose.h"
#include "tests/support/device_hop.h"

namespace salient {
namespace {

TEST(TransposeOnDevice, EqualsTheHosts) {
  const CudaStream stream;
  for (const test::OwnedHop& hop : test::kernel_hops()) {
    const test::DeviceHop device_hop(hop, stream);
    const TransposedHop actual = test::DeviceSourceEdges(hop, device_hop, stream).read(stream),
                        expected = transpose(hop.edges());
    EXPECT_EQ(actual.indptr, expected.indptr);
    EXPECT_EQ(actual.destination, expected.destination);
    EXPECT_EQ(actual.edge, expected.edge);
  }
}

}  // namespace
}  // namespace salient
