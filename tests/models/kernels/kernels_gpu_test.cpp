// tests/models/kernels/kernels_gpu_test.cpp - operator kernels equal their references over sizes and alignments, on a non-default stream.
#include <gtest/gtest.h>

#include <cmath>

#include "core/half.h"
#include "models/kernels/dropout.h"
#include "models/kernels/flag_loss.h"
#include "models/kernels/segment.h"
#include "tests/support/attention_case.h"
#include "tests/support/device_copy.h"
#include "tests/support/flags.h"
#include "tests/support/hops.h"

namespace salient {
namespace {

using test::OnDevice;
using test::OwnedHop;
using test::random_hop;
using test::random_values;

constexpr std::int64_t kWidths[] = {0, 1, 3, 4, 8, 12, 40, 47, 64, 100, 128, 172, 256, 260, 1024};
constexpr Reduce kReductions[] = {Reduce::kSum, Reduce::kMean};

std::vector<OwnedHop> hops() {
  return {OwnedHop{0, 0},
          OwnedHop{0, 5},
          random_hop(1, 1, 1, 1),
          random_hop(7, 9, 3, 2),
          random_hop(300, 1000, 25, 3),
          random_hop(50, 60, 900, 4)};
}

std::vector<float> poison(std::int64_t count) { return std::vector<float>(static_cast<std::size_t>(count), NAN); }

class DeviceHop {
 public:
  DeviceHop(const OwnedHop& hop, const CudaStream& stream)
      : hop_(hop), indptr_(hop.indptr, stream), indices_(hop.indices, stream) {}
  HopEdges edges() const { return {indptr_.get(), indices_.get(), hop_.num_dst, hop_.num_src}; }

 private:
  const OwnedHop& hop_;
  OnDevice<LocalId> indptr_, indices_;
};

template <class T>
void expect_forward_equals_reference(const OwnedHop& hop, Reduce reduce, const std::vector<T>& x, std::int64_t width,
                                     std::size_t offset) {
  const CudaStream stream;
  std::vector<float> expected(static_cast<std::size_t>(hop.num_dst * width));
  segment_reduce_reference(hop.edges(), reduce, x.data(), width, expected.data());
  const DeviceHop device_hop(hop, stream);
  const OnDevice<T> device_x(x, stream, offset);
  const OnDevice<float> out(poison(hop.num_dst * width), stream, offset);
  segment_reduce(device_hop.edges(), reduce, static_cast<const T*>(device_x.get()), width, out.get(), stream.get());
  ASSERT_EQ(out.read(stream), expected) << hop.num_dst << " rows, " << width << " columns, offset " << offset;
}

TEST(SegmentReduceOnDevice, EqualsTheReference) {
  for (const OwnedHop& hop : hops())
    for (const std::int64_t width : kWidths)
      for (const Reduce reduce : kReductions)
        for (const std::size_t offset : {0u, 1u}) {
          const std::vector<float> x = random_values(hop.num_src * width, 5);
          expect_forward_equals_reference(hop, reduce, x, width, offset);
          std::vector<Half> halves(x.size());
          for (std::size_t i = 0; i < x.size(); ++i) halves[i].bits = float_to_half(x[i]);
          expect_forward_equals_reference(hop, reduce, halves, width, offset);
        }
}

TEST(SegmentReduceBackwardOnDevice, IsCloseToTheReference) {  // atomics add in any order
  const CudaStream stream;
  for (const OwnedHop& hop : hops())
    for (const std::int64_t width : kWidths)
      for (const Reduce reduce : kReductions)
        for (const std::size_t offset : {0u, 1u}) {
          const std::vector<float> grad = random_values(hop.num_dst * width, 6);
          std::vector<float> expected(static_cast<std::size_t>(hop.num_src * width));
          segment_reduce_backward_reference(hop.edges(), reduce, grad.data(), width, expected.data());
          const DeviceHop device_hop(hop, stream);
          const OnDevice<float> device_grad(grad, stream, offset), grad_x(poison(hop.num_src * width), stream, offset);
          segment_reduce_backward(device_hop.edges(), reduce, device_grad.get(), width, grad_x.get(), stream.get());
          const std::vector<float> actual = grad_x.read(stream);
          for (std::size_t i = 0; i < actual.size(); ++i)
            ASSERT_NEAR(actual[i], expected[i], 1e-3) << hop.num_dst << " rows, " << width << " columns, at " << i;
        }
}

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
    transpose(on_device.edges(), num_edges_, indptr_.get(), destination_.get(), edge_.get(), keys_.get(),
              scratch_.get(), transpose_scratch_bytes(num_edges_), stream.get());
  }
  SourceEdges edges() const { return {indptr_.get(), destination_.get(), edge_.get()}; }
  TransposedHop read(const CudaStream& stream) const {
    return {indptr_.read(stream), destination_.read(stream), edge_.read(stream)};
  }

 private:
  std::int64_t num_edges_;
  OnDevice<LocalId> indptr_, destination_, edge_, keys_, scratch_;
};

TEST(TransposeOnDevice, EqualsTheHosts) {
  const CudaStream stream;
  for (const OwnedHop& hop : hops()) {
    const DeviceHop device_hop(hop, stream);
    const TransposedHop actual = DeviceSourceEdges(hop, device_hop, stream).read(stream),
                        expected = transpose(hop.edges());
    EXPECT_EQ(actual.indptr, expected.indptr);
    EXPECT_EQ(actual.destination, expected.destination);
    EXPECT_EQ(actual.edge, expected.edge);
  }
}

TEST(SegmentReduceBackwardOnDevice, OverEdgesBySourceEqualsTheReferenceBitForBit) {
  const CudaStream stream;
  for (const OwnedHop& hop : hops())
    for (const std::int64_t width : kWidths)
      for (const Reduce reduce : kReductions)
        for (const std::size_t offset : {0u, 1u}) {
          const std::vector<float> grad = random_values(hop.num_dst * width, 6);
          std::vector<float> expected(static_cast<std::size_t>(hop.num_src * width));
          segment_reduce_backward_reference(hop.edges(), reduce, grad.data(), width, expected.data());
          const DeviceHop device_hop(hop, stream);
          const DeviceSourceEdges by_source(hop, device_hop, stream);
          const OnDevice<float> device_grad(grad, stream, offset), grad_x(poison(hop.num_src * width), stream, offset);
          segment_reduce_backward(device_hop.edges(), reduce, device_grad.get(), width, grad_x.get(),
                                  BackwardStream(stream.get(), by_source.edges()));
          ASSERT_EQ(grad_x.read(stream), expected) << hop.num_dst << " rows, " << width << " columns";
        }
}

TEST(SegmentMaxOnDevice, EqualsTheReferenceAndSoDoesItsGradient) {
  const CudaStream stream;
  for (const OwnedHop& hop : hops())
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
      segment_max_backward(device_hop.edges(), winner.get(), device_grad.get(), width, grad_x.get(), stream.get());
      segment_max_backward(device_hop.edges(), winner.get(), device_grad.get(), width, ordered.get(),
                           BackwardStream(stream.get(), by_source.edges()));
      ASSERT_EQ(ordered.read(stream), expected_grad) << hop.num_dst << " rows, " << width << " columns";
      const std::vector<float> actual = grad_x.read(stream);
      for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected_grad[i], 1e-3);
    }
}

TEST(DropoutOnDevice, EqualsTheReference) {
  const CudaStream stream;
  for (const std::int64_t rows : {0, 1, 5, 700})
    for (const std::int64_t columns : {0, 1, 7, 8, 12, 63, 64, 100, 256})
      for (const double p : {0.0, 0.1, 0.5, 1.0})
        for (const Activation activation : {Activation::kNone, Activation::kRelu})
          for (const std::size_t offset : {0u, 1u}) {
            const std::vector<float> x = random_values(rows * columns, 1);
            std::vector<std::uint32_t> nodes(static_cast<std::size_t>(rows));
            for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<std::uint32_t>(i * 2654435761u);
            const DropoutMask mask = DropoutMask::make(p, 3, 17, 2);
            std::vector<float> expected(x.size());
            dropout_reference(mask, activation, x.data(), nodes.data(), rows, columns, expected.data());
            const OnDevice<float> device_x(x, stream, offset), out(poison(rows * columns), stream, offset);
            const OnDevice<std::uint32_t> device_nodes(nodes, stream);
            dropout(mask, activation, device_x.get(), device_nodes.get(), rows, columns, out.get(), stream.get());
            ASSERT_EQ(out.read(stream), expected) << rows << " x " << columns << ", p = " << p;
          }
}

TEST(FlagLossOnDevice, EqualsTheHostVersionWithTheSameBitsEachTime) {
  const CudaStream stream;
  for (const std::size_t count : {0u, 1u, 5u, 256u, 257u, 65'536u, 65'537u, 300'001u})
    for (const double smoothing : {0.0, 0.1}) {
      const test::FlagCase labels = test::FlagCase::make(count);
      const FlagTarget target = FlagTarget::make(smoothing);
      std::vector<float> expected_grad(count, NAN);
      const FlagSums expected = flag_loss(target, labels.logits, labels.flags.data(), expected_grad.data());
      const OnDevice<float> logits(labels.logits, stream), grad(poison(static_cast<std::int64_t>(count)), stream),
          loss({NAN}, stream);
      const OnDevice<std::int8_t> flags(labels.flags, stream);
      const OnDevice<FlagSums> partial(std::vector<FlagSums>(kFlagLossBlocks), stream), sums({{NAN, NAN}}, stream);
      double first_loss = 0;
      for (int round = 0; round < 3; ++round) {
        flag_loss(target, std::span<const float>(logits.get(), count), flags.get(), grad.get(), partial.get(),
                  sums.get(), loss.get(), stream.get());
        const FlagSums found = sums.read(stream)[0];
        EXPECT_NEAR(found.loss, expected.loss, 1e-5 * expected.loss) << count;
        EXPECT_EQ(found.correct, expected.correct);
        EXPECT_EQ(loss.read(stream)[0], static_cast<float>(found.loss));
        const std::vector<float> actual = grad.read(stream);
        for (std::size_t i = 0; i < count; ++i) ASSERT_NEAR(actual[i], expected_grad[i], 1e-6);
        if (round == 0) first_loss = found.loss;
        EXPECT_EQ(found.loss, first_loss);
      }
    }
}

TEST(ScaleWherePositiveOnDevice, EqualsTheHostVersion) {
  const CudaStream stream;
  for (const std::int64_t count : {0, 1, 4, 7, 1000, 100'001})
    for (const std::size_t offset : {0u, 1u}) {
      const std::vector<float> positive = random_values(count, 1), x = random_values(count, 2);
      std::vector<float> expected(x.size());
      scale_where_positive(positive.data(), x.data(), 1.25f, count, expected.data());
      const OnDevice<float> device_positive(positive, stream, offset), device_x(x, stream, offset),
          out(poison(count), stream, offset);
      scale_where_positive(device_positive.get(), device_x.get(), 1.25f, count, out.get(), stream.get());
      ASSERT_EQ(out.read(stream), expected) << count;
    }
}

enum class Order { kAny, kFixed };

test::AttentionResult run_on_device(const test::AttentionCase& c, const CudaStream& stream, Order order) {
  const test::AttentionResult empty(c);
  const DeviceHop device_hop(c.hop, stream);
  const DeviceSourceEdges by_source(c.hop, device_hop, stream);
  const BackwardStream on(stream.get(), order == Order::kFixed ? by_source.edges() : SourceEdges{});
  const HopEdges hop = device_hop.edges();
  const OnDevice<float> src(c.score_src, stream), dst(c.score_dst, stream), h(c.h, stream), grad(c.grad_out, stream);
  const OnDevice<float> weights(empty.weights, stream), out(empty.out, stream), grad_slots(empty.grad_slots, stream),
      grad_h(empty.grad_h, stream), grad_src(empty.grad_src, stream), grad_dst(empty.grad_dst, stream);
  gat_logits(hop, c.shape.heads, c.slope, src.get(), dst.get(), weights.get(), stream.get());
  slot_softmax(hop, c.shape.heads, weights.get(), stream.get());
  slot_sum(hop, c.shape, weights.get(), h.get(), out.get(), stream.get());
  slot_sum_backward(hop, c.shape, weights.get(), h.get(), grad.get(), grad_slots.get(), grad_h.get(), on);
  slot_softmax_backward(hop, c.shape.heads, weights.get(), grad_slots.get(), stream.get());
  gat_logits_backward(hop, c.shape.heads, c.slope, src.get(), dst.get(), grad_slots.get(), grad_src.get(),
                      grad_dst.get(), on);
  test::AttentionResult r(c);
  r.weights = weights.read(stream), r.out = out.read(stream), r.grad_h = grad_h.read(stream);
  r.grad_src = grad_src.read(stream), r.grad_dst = grad_dst.read(stream);
  return r;
}

TEST(AttentionOnDevice, EqualsTheReference) {
  const CudaStream stream;
  for (const test::AttentionCase& c : test::attention_cases())
    for (const Order order : {Order::kAny, Order::kFixed})
      test::expect_close_to_reference(run_on_device(c, stream, order), c);
}

test::Gatv2Result run_on_device(const test::Gatv2Case& c, const CudaStream& stream, Order order) {
  const test::Gatv2Result empty(c);
  const DeviceHop device_hop(c.hop, stream);
  const DeviceSourceEdges by_source(c.hop, device_hop, stream);
  const BackwardStream on(stream.get(), order == Order::kFixed ? by_source.edges() : SourceEdges{});
  const HopEdges hop = device_hop.edges();
  const OnDevice<float> src(c.z_src, stream), dst(c.z_dst, stream), att(c.att, stream), grad(c.grad_logits, stream);
  const OnDevice<float> logits(empty.logits, stream), grad_src(empty.grad_src, stream),
      grad_dst(empty.grad_dst, stream), grad_att(empty.grad_att, stream);
  gatv2_logits(hop, c.shape, c.slope, src.get(), dst.get(), att.get(), logits.get(), stream.get());
  gatv2_logits_backward(hop, c.shape, c.slope, src.get(), dst.get(), att.get(), grad.get(), grad_src.get(),
                        grad_dst.get(), grad_att.get(), on);
  test::Gatv2Result r(c);
  r.logits = logits.read(stream), r.grad_src = grad_src.read(stream), r.grad_dst = grad_dst.read(stream);
  r.grad_att = grad_att.read(stream);
  return r;
}

TEST(Gatv2LogitsOnDevice, EqualTheReference) {
  const CudaStream stream;
  for (const test::Gatv2Case& c : test::gatv2_cases())
    test::expect_close_to_reference(run_on_device(c, stream, Order::kAny), c);
  for (const test::Gatv2Case& c : test::gatv2_cases())
    test::expect_close_to_reference(run_on_device(c, stream, Order::kFixed), c);
}

}  // namespace
}  // namespace salient
