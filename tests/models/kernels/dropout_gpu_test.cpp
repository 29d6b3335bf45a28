// tests/models/kernels/dropout_gpu_test.cpp - dropout on the device equals its reference over sizes and alignments.
#include <gtest/gtest.h>

#include <random>

#include "models/kernels/dropout.h"
#include "tests/support/device_hop.h"

namespace salient {
namespace {

using test::OnDevice;
using test::poison;
using test::random_values;

TEST(DropoutOnDevice, EqualsTheReference) {
  const CudaStream stream;
  for (const std::int64_t rows : {0, 1, 5, 700})
    for (const std::int64_t columns : {0, 1, 7, 8, 12, 24, 63, 64, 100, 200, 256})
      for (const double p : {0.0, 0.1, 0.5, 1.0})
        for (const Activation activation : {Activation::kNone, Activation::kRelu})
          for (const std::size_t offset : {0u, 1u}) {
            const std::vector<float> x = random_values(rows * columns, 1);
            std::vector<std::uint32_t> nodes(static_cast<std::size_t>(rows));
            for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<std::uint32_t>(i * 2654435761u);
            const DropoutMask mask = DropoutMask::make(p, 3, 17, 2);
            std::vector<float> expected(x.size());
            std::vector<std::uint8_t> bits(static_cast<std::size_t>(rows * ((columns + 7) / 8)), 0xA5);
            const OnDevice<float> device_x(x, stream, offset), out(poison(rows * columns), stream, offset);
            const OnDevice<std::uint32_t> device_nodes(nodes, stream);
            const OnDevice<std::uint8_t> device_bits(bits, stream);
            const NodeRows in{device_x.get(), device_nodes.get(), rows, columns};
            dropout_reference(mask, activation, {x.data(), nodes.data(), rows, columns},
                              {expected.data(), bits.data()});
            dropout(mask, activation, in, {out.get()}, stream.get());
            ASSERT_EQ(out.read(stream), expected) << rows << " x " << columns << ", p = " << p;
            dropout(mask, activation, in, {out.get(), device_bits.get()}, stream.get());
            ASSERT_EQ(out.read(stream), expected) << rows << " x " << columns << ", p = " << p;
            ASSERT_EQ(device_bits.read(stream), bits) << rows << " x " << columns << ", p = " << p;
          }
}

TEST(ScaleWherePositiveOnDevice, EqualsTheHostVersion) {
  const CudaStream stream;
  std::mt19937 random(1);
  for (const std::int64_t rows : {0, 1, 5, 700})
    for (const std::int64_t columns : {0, 1, 4, 7, 8, 12, 64, 100, 256})
      for (const std::size_t offset : {0u, 1u}) {
        std::vector<std::uint8_t> bits(static_cast<std::size_t>(rows * ((columns + 7) / 8)));
        for (std::uint8_t& byte : bits) byte = static_cast<std::uint8_t>(random());
        const std::vector<float> x = random_values(rows * columns, 2);
        std::vector<float> expected(x.size());
        scale_where_positive({bits.data(), rows, columns}, x.data(), 1.25f, expected.data());
        const OnDevice<std::uint8_t> device_bits(bits, stream);
        const OnDevice<float> device_x(x, stream, offset), out(poison(rows * columns), stream, offset);
        scale_where_positive({device_bits.get(), rows, columns}, device_x.get(), 1.25f, out.get(), stream.get());
        ASSERT_EQ(out.read(stream), expected) << rows << " x " << columns;
      }
}

}  // namespace
}  // namespace salient
