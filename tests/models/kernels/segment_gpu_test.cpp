// tests/models/kernels/segment_gpu_test.cpp - neighbour sums on the device equal their references over sizes and
// alignments.
#include <gtest/gtest.h>

#include <cmath>

#include "core/half.h"
#include "models/kernels/segment.h"
#include "models/kernels/segment_bins.h"
#include "tests/support/device_hop.h"

namespace salient {
namespace {

using test::DeviceHop;
using test::DeviceSourceEdges;
using test::kernel_hops;
using test::OnDevice;
using test::OwnedHop;
using test::poison;
using test::random_values;

constexpr std::int64_t kWidths[] = {0, 1, 3, 4, 8, 12, 40, 47, 64, 100, 128, 172, 256, 260, 1024};
constexpr Reduce kReductions[] = {Reduce::kSum, Reduce::kMean};

/// Without weights, and with some: the same on host and device.
struct Weights {
  explicit Weights(const OwnedHop& hop, const CudaStream& stream)
      : host(random_values(hop.num_src, 13)), device(host, stream) {}

  template <class Check>
  void for_each(const Check& check) const {
    for (const Reduce reduce : kReductions) {
      check(Reduction(reduce), Reduction(reduce));
      check(Reduction(reduce, host.data()), Reduction(reduce, device.get()));
    }
  }

  std::vector<float> host;
  OnDevice<float> device;
};

template <class T>
void expect_forward_equals_reference(const OwnedHop& hop, const std::vector<T>& x, std::int64_t width,
                                     std::size_t offset) {
  const CudaStream stream;
  const Weights weights(hop, stream);
  const DeviceHop device_hop(hop, stream);
  const OnDevice<T> device_x(x, stream, offset);
  weights.for_each([&](const Reduction& on_host, const Reduction& on_device) {
    std::vector<float> expected(static_cast<std::size_t>(hop.num_dst * width));
    segment_reduce_reference(hop.edges(), on_host, x.data(), width, expected.data());
    const OnDevice<float> out(poison(hop.num_dst * width), stream, offset);
    segment_reduce(device_hop.edges(), on_device, static_cast<const T*>(device_x.get()), width, out.get(),
                   stream.get());
    ASSERT_EQ(out.read(stream), expected) << hop.num_dst << " rows, " << width << " columns, offset " << offset;
  });
}

TEST(SegmentReduceOnDevice, EqualsTheReference) {
  for (const OwnedHop& hop : kernel_hops())
    for (const std::int64_t width : kWidths)
      for (const std::size_t offset : {0u, 1u}) {
        const std::vector<float> x = random_values(hop.num_src * width, 5);
        expect_forward_equals_reference(hop, x, width, offset);
        std::vector<Half> halves(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) halves[i].bits = float_to_half(x[i]);
        expect_forward_equals_reference(hop, halves, width, offset);
      }
}

/// Of a sum in another order: hubs add thousands of terms.
double bound_of(float expected) { return 1e-3 + 1e-5 * std::abs(expected); }

TEST(SegmentReduceBackwardOnDevice, IsCloseToTheReference) {  // atomics add in any order
  const CudaStream stream;
  for (const OwnedHop& hop : kernel_hops()) {
    const Weights weights(hop, stream);
    for (const std::int64_t width : kWidths)
      for (const std::size_t offset : {0u, 1u}) {
        const std::vector<float> grad = random_values(hop.num_dst * width, 6);
        const DeviceHop device_hop(hop, stream);
        const OnDevice<float> device_grad(grad, stream, offset);
        weights.for_each([&](const Reduction& on_host, const Reduction& on_device) {
          std::vector<float> expected(static_cast<std::size_t>(hop.num_src * width));
          segment_reduce_backward_reference(hop.edges(), on_host, grad.data(), width, expected.data());
          const OnDevice<float> grad_x(poison(hop.num_src * width), stream, offset);
          segment_reduce_backward(device_hop.edges(), on_device, device_grad.get(), width, grad_x.get(), stream.get());
          const std::vector<float> actual = grad_x.read(stream);
          for (std::size_t i = 0; i < actual.size(); ++i)
            ASSERT_NEAR(actual[i], expected[i], bound_of(expected[i]))
                << hop.num_dst << " rows, " << width << " columns, at " << i;
        });
      }
  }
}

TEST(SegmentReduceBackwardOnDevice, OverEdgesBySourceEqualsTheReferenceBitForBit) {
  const CudaStream stream;
  for (const OwnedHop& hop : kernel_hops()) {
    const Weights weights(hop, stream);
    for (const std::int64_t width : kWidths)
      for (const std::size_t offset : {0u, 1u}) {
        const std::vector<float> grad = random_values(hop.num_dst * width, 6);
        const DeviceHop device_hop(hop, stream);
        const DeviceSourceEdges by_source(hop, device_hop, stream);
        const OnDevice<float> device_grad(grad, stream, offset);
        weights.for_each([&](const Reduction& on_host, const Reduction& on_device) {
          std::vector<float> expected(static_cast<std::size_t>(hop.num_src * width));
          segment_reduce_backward_reference(hop.edges(), on_host, grad.data(), width, expected.data());
          const OnDevice<float> grad_x(poison(hop.num_src * width), stream, offset);
          segment_reduce_backward(device_hop.edges(), on_device, device_grad.get(), width, grad_x.get(),
                                  BackwardStream(stream.get(), by_source.edges()));
          ASSERT_EQ(grad_x.read(stream), expected) << hop.num_dst << " rows, " << width << " columns";
        });
      }
  }
}

void expect_binned_gradient_is_close(const OwnedHop& hop, Reduce reduce, std::int64_t width, std::size_t offset) {
  const CudaStream stream;
  const std::vector<float> grad = random_values(hop.num_dst * width, 6);
  std::vector<float> expected(static_cast<std::size_t>(hop.num_src * width));
  segment_reduce_backward_reference(hop.edges(), reduce, grad.data(), width, expected.data());
  const DeviceHop device_hop(hop, stream);
  const std::int64_t size = source_bins_size(hop.num_src, static_cast<std::int64_t>(hop.indices.size()));
  std::vector<LocalId> garbage(static_cast<std::size_t>(size) + 8, 0x55555555);
  const OnDevice<LocalId> bins(garbage, stream);
  const OnDevice<float> device_grad(grad, stream, offset), grad_x(poison(hop.num_src * width), stream, offset);
  segment_reduce_backward(device_hop.edges(), reduce, device_grad.get(), width, grad_x.get(),
                          BackwardStream(stream.get(), SourceBins{bins.get()}));
  const std::vector<float> actual = grad_x.read(stream);
  for (std::size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], 1e-3) << hop.num_dst << " rows, " << width << " columns, at " << i;
  const std::vector<LocalId> used = bins.read(stream);
  for (std::size_t i = static_cast<std::size_t>(size); i < used.size(); ++i)
    ASSERT_EQ(used[i], garbage[i]) << "written behind the bins";
}

TEST(SegmentReduceBackwardOnDevice, ThroughBinsIsCloseToTheReference) {  // hubs have more entries than a bin has room
  for (const OwnedHop& hop : kernel_hops())
    for (const std::int64_t width : kWidths)
      for (const Reduce reduce : kReductions)
        for (const std::size_t offset : {0u, 1u}) expect_binned_gradient_is_close(hop, reduce, width, offset);
}

TEST(SegmentReduceBackwardOnDevice, ThroughBinsTakesMoreSourcesThanTheGridHasRoomFor) {
  const OwnedHop hop = test::random_hop(50'000, 70'001, 5, 8);
  for (const std::int64_t width : {3, 64, 132}) expect_binned_gradient_is_close(hop, Reduce::kMean, width, 0);
}

void expect_max_of_halves_equals_reference(const OwnedHop& hop, const DeviceHop& device_hop,
                                           const std::vector<float>& x, std::int64_t width) {
  const CudaStream stream;
  std::vector<Half> halves(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) halves[i].bits = float_to_half(x[i]);
  const std::int64_t count = hop.num_dst * width;
  std::vector<float> expected(static_cast<std::size_t>(count));
  std::vector<LocalId> expected_winner(expected.size());
  segment_max_reference(hop.edges(), halves.data(), width, expected.data(), expected_winner.data());
  const OnDevice<Half> device_x(halves, stream);
  const OnDevice<float> out(poison(count), stream);
  const OnDevice<LocalId> winner(std::vector<LocalId>(expected.size(), -7), stream);
  segment_max(device_hop.edges(), static_cast<const Half*>(device_x.get()), width, out.get(), winner.get(),
              stream.get());
  ASSERT_EQ(out.read(stream), expected) << hop.num_dst << " rows, " << width << " columns of halves";
  ASSERT_EQ(winner.read(stream), expected_winner) << hop.num_dst << " rows, " << width << " columns of halves";
}

TEST(SegmentMaxOnDevice, EqualsTheReferenceAndSoDoesItsGradient) {
  const CudaStream stream;
  for (const OwnedHop& hop : kernel_hops())
    for (const std::int64_t width : kWidths) {
      std::vector<float> x = random_values(hop.num_src * width, 5);
      for (float& value : x) value = std::round(value * 4) / 4;  // many ties
      const std::vector<float> grad = random_values(hop.num_dst * width, 6);
      std::vector<float> expected(grad.size()), expected_grad(x.size());
      std::vector<LocalId> expected_winner(grad.size());
      segment_max_reference(hop.edges(), x.data(), width, expected.data(), expected_winner.data());
      segment_max_backward_reference(hop.edges(), expected_winner.data(), grad.data(), width, expected_grad.data());
      const DeviceHop device_hop(hop, stream);
      const DeviceSourceEdges by_source(hop, device_hop, stream);
      const OnDevice<float> device_x(x, stream), device_grad(grad, stream), out(poison(hop.num_dst * width), stream),
          grad_x(poison(hop.num_src * width), stream), ordered(poison(hop.num_src * width), stream);
      const OnDevice<LocalId> winner(std::vector<LocalId>(grad.size(), -7), stream);
      segment_max(device_hop.edges(), static_cast<const float*>(device_x.get()), width, out.get(), winner.get(),
                  stream.get());
      ASSERT_EQ(out.read(stream), expected) << hop.num_dst << " rows, " << width << " columns";
      ASSERT_EQ(winner.read(stream), expected_winner) << hop.num_dst << " rows, " << width << " columns";
      expect_max_of_halves_equals_reference(hop, device_hop, x, width);
      segment_max_backward(device_hop.edges(), winner.get(), device_grad.get(), width, grad_x.get(), stream.get());
      segment_max_backward(device_hop.edges(), winner.get(), device_grad.get(), width, ordered.get(),
                           BackwardStream(stream.get(), by_source.edges()));
      ASSERT_EQ(ordered.read(stream), expected_grad) << hop.num_dst << " rows, " << width << " columns";
      const std::vector<float> actual = grad_x.read(stream);
      for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected_grad[i], 1e-3);
    }
}

}  // namespace
}  // namespace salient
