// tests/models/kernels/attention_gpu_test.cpp - attention on the device equals the reference, in both orders of
// summation.
#include <gtest/gtest.h>

#include "models/kernels/attention_sum.h"
#include "models/kernels/edge_softmax.h"
#include "models/kernels/gat_logits.h"
#include "models/kernels/gatv2_logits.h"
#include "models/kernels/source_bins.h"
#include "tests/support/attention_case.h"
#include "tests/support/device_hop.h"

namespace salient {
namespace {

using test::DeviceHop;
using test::DeviceSourceEdges;
using test::OnDevice;

enum class Order { kAny, kFixed, kAnyByBins };

test::AttentionResult run_on_device(const test::AttentionCase& c, const CudaStream& stream, Order order) {
  const test::AttentionResult empty(c);
  const DeviceHop device_hop(c.hop, stream);
  const DeviceSourceEdges by_source(c.hop, device_hop, stream);
  const auto num_edges = static_cast<std::int64_t>(c.hop.indices.size());
  const auto bins_size = static_cast<std::size_t>(source_bins_size(Kept::kRowsAndPositions, c.hop.num_src, num_edges));
  const OnDevice<LocalId> bins(std::vector<LocalId>(bins_size, 0x55555555), stream);
  const BackwardStream on = order == Order::kAnyByBins ? BackwardStream(stream.get(), SourceBins{bins.get(), num_edges})
                            : order == Order::kFixed   ? BackwardStream(stream.get(), by_source.edges())
                                                       : BackwardStream(stream.get());
  const HopEdges hop = device_hop.edges();
  const OnDevice<float> src(c.score_src, stream), dst(c.score_dst, stream), h(c.h, stream), grad(c.grad_out, stream);
  const OnDevice<float> weights(empty.weights, stream), out(empty.out, stream), grad_edges(empty.grad_edges, stream),
      grad_h(empty.grad_h, stream), grad_src(empty.grad_src, stream), grad_dst(empty.grad_dst, stream);
  const GatScores scores{c.shape.heads, c.slope, src.get(), dst.get()};
  const AttentionTerms terms{c.shape, weights.get(), h.get()};
  gat_logits(hop, scores, weights.get(), stream.get());
  edge_softmax(hop, c.shape.heads, weights.get(), stream.get());
  attention_sum(hop, terms, out.get(), stream.get());
  attention_sum_backward(hop, terms, grad.get(), {grad_edges.get(), grad_h.get()}, on);
  edge_softmax_backward(hop, c.shape.heads, weights.get(), grad_edges.get(), stream.get());
  gat_logits_backward(hop, scores, grad_edges.get(), {grad_src.get(), grad_dst.get()}, on);
  test::AttentionResult r(c);
  r.weights = weights.read(stream), r.out = out.read(stream), r.grad_h = grad_h.read(stream);
  r.grad_src = grad_src.read(stream), r.grad_dst = grad_dst.read(stream);
  return r;
}

TEST(AttentionOnDevice, EqualsTheReference) {
  const CudaStream stream;
  for (const test::AttentionCase& c : test::attention_cases())
    for (const Order order : {Order::kAny, Order::kFixed, Order::kAnyByBins})
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
  const Gatv2Inputs inputs{c.shape, c.slope, src.get(), dst.get(), att.get()};
  gatv2_logits(hop, inputs, logits.get(), stream.get());
  gatv2_logits_backward(hop, inputs, grad.get(), {grad_src.get(), grad_dst.get(), grad_att.get()}, on);
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
