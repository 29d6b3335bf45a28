// tests/models/kernels/attention_gpu_test.cpp - attention on the device equals the reference, in both orders of
// summation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "models/kernels/attention_sum.h"
#include "models/kernels/edge_softmax.h"
#include "models/kernels/gat_bins.h"
#include "models/kernels/gatv2_bins.h"
#include "tests/support/attention_case.h"
#include "tests/support/device_hop.h"

namespace salient {
namespace {

using test::DeviceHop;
using test::DeviceSourceEdges;
using test::OnDevice;

enum class Order { kAny, kFixed };

enum class Scores { kInOneStep, kSoftmaxThenLogits };  ///< their gradients

/// A case in device memory, with room for its results.
struct DeviceAttention {
  DeviceAttention(const test::AttentionCase& attention, const CudaStream& stream)
      : c(attention),
        device_hop(c.hop, stream),
        src(c.score_src, stream),
        dst(c.score_dst, stream),
        h(c.h, stream),
        grad(c.grad_out, stream),
        weights(empty.weights, stream),
        out(empty.out, stream),
        grad_edges(empty.grad_edges, stream),
        grad_h(empty.grad_h, stream),
        grad_src(empty.grad_src, stream),
        grad_dst(empty.grad_dst, stream) {}

  HopEdges hop() const { return device_hop.edges(); }
  GatScores scores() const { return {c.shape.heads, c.slope, src.get(), dst.get()}; }
  AttentionTerms terms() const { return {c.shape, weights.get(), h.get()}; }

  /// The weights and their sum. @param on  as gat_logits() takes it
  void forward(const LogitsStream& on, const CudaStream& stream) const {
    gat_logits(hop(), scores(), weights.get(), on);
    edge_softmax(hop(), c.shape.heads, weights.get(), stream.get());
    attention_sum(hop(), terms(), out.get(), stream.get());
  }

  test::AttentionResult result(const CudaStream& stream) const {
    test::AttentionResult r(c);
    r.weights = weights.read(stream), r.out = out.read(stream), r.grad_h = grad_h.read(stream);
    r.grad_src = grad_src.read(stream), r.grad_dst = grad_dst.read(stream);
    return r;
  }

  const test::AttentionCase& c;
  const test::AttentionResult empty{c};
  const DeviceHop device_hop;
  const OnDevice<float> src, dst, h, grad, weights, out, grad_edges, grad_h, grad_src, grad_dst;
};

test::AttentionResult run_on_device(const test::AttentionCase& c, const CudaStream& stream, Order order,
                                    Scores scores_by = Scores::kSoftmaxThenLogits) {
  const DeviceAttention d(c, stream);
  const DeviceSourceEdges by_source(c.hop, d.device_hop, stream);
  const BackwardStream on(stream.get(), order == Order::kFixed ? by_source.edges() : SourceEdges{});
  d.forward(stream.get(), stream);
  attention_sum_backward(d.hop(), d.terms(), d.grad.get(), {d.grad_edges.get(), d.grad_h.get()}, on);
  if (scores_by == Scores::kInOneStep) {
    gat_scores_backward(d.hop(), d.scores(), d.weights.get(), d.grad_edges.get(), {d.grad_src.get(), d.grad_dst.get()},
                        on);
  } else {
    edge_softmax_backward(d.hop(), c.shape.heads, d.weights.get(), d.grad_edges.get(), stream.get());
    gat_logits_backward(d.hop(), d.scores(), d.grad_edges.get(), {d.grad_src.get(), d.grad_dst.get()}, on);
  }
  return d.result(stream);
}

TEST(AttentionOnDevice, EqualsTheReference) {
  const CudaStream stream;
  for (const test::AttentionCase& c : test::attention_cases())
    for (const Order order : {Order::kAny, Order::kFixed})
      test::expect_close_to_reference(run_on_device(c, stream, order), c);
}

TEST(AttentionOnDevice, TheGradientsOfTheScoresInOneStepAreTheReferences) {
  const CudaStream stream;
  for (const test::AttentionCase& c : test::attention_cases())
    for (const Order order : {Order::kAny, Order::kFixed})
      test::expect_close_to_reference(run_on_device(c, stream, order, Scores::kInOneStep), c);
}

/// Memory of bins with something in it, and behind its end.
class DeviceBins {
 public:
  DeviceBins(const test::OwnedHop& hop, const CudaStream& stream)
      : num_src_(hop.num_src),
        size_(static_cast<std::size_t>(attention_bins_size(num_src_, static_cast<std::int64_t>(hop.indices.size())))),
        memory_(std::vector<LocalId>(size_ + 8, kGarbage), stream) {}

  AttentionBins bins() const { return AttentionBins::make(memory_.get(), num_src_); }
  void expect_nothing_behind(const CudaStream& stream) const {
    const std::vector<LocalId> used = memory_.read(stream);
    for (std::size_t i = size_; i < used.size(); ++i) ASSERT_EQ(used[i], kGarbage) << "written behind the bins";
  }

 private:
  static constexpr LocalId kGarbage = 0x55555555;
  std::int64_t num_src_;
  std::size_t size_;
  OnDevice<LocalId> memory_;
};

test::AttentionResult run_by_bins(const test::AttentionCase& c, const CudaStream& stream) {
  const DeviceAttention d(c, stream);
  const DeviceBins bins(c.hop, stream);
  d.forward({stream.get(), bins.bins()}, stream);
  gat_attention_backward_binned(d.hop(), {d.scores(), d.terms(), d.grad.get(), bins.bins()},
                                {{d.grad_edges.get(), d.grad_h.get()}, {d.grad_src.get(), d.grad_dst.get()}},
                                stream.get());
  bins.expect_nothing_behind(stream);
  return d.result(stream);
}

/// Entries that are their row itself, rows without entries, hubs with more entries than a bin has room, and sources
/// without an entry.
std::vector<test::OwnedHop> hops_for_bins() {
  return {test::random_hop(1, 1, 1, 1), test::random_hop(20, 22, 9, 2), test::random_hop(300, 1000, 25, 3),
          test::random_hop(30, 40, 300, 4), test::random_hop(2000, 9000, 6, 5)};
}

TEST(AttentionOnDevice, ByBinsEqualsTheReference) {
  const CudaStream stream;
  for (const Heads shape : {Heads{1, 4}, Heads{1, 128}, Heads{1, 256}, Heads{1, 300}, Heads{3, 20}, Heads{4, 32},
                            Heads{4, 128}, Heads{8, 8}})
    for (const test::OwnedHop& hop : hops_for_bins()) {
      const test::AttentionCase c(hop, shape, 5);
      test::expect_close_to_reference(run_by_bins(c, stream), c);
    }
}

TEST(AttentionOnDevice, BinsHaveEveryEdgeOnceButMaskedOnesAndSelfLoops) {
  const CudaStream stream;
  for (const test::OwnedHop& hop : hops_for_bins()) {
    const DeviceHop device_hop(hop, stream);
    const auto num_entries = static_cast<std::int64_t>(hop.indices.size());
    const OnDevice<LocalId> memory(
        std::vector<LocalId>(static_cast<std::size_t>(attention_bins_size(hop.num_src, num_entries)), 0x55555555),
        stream);
    const OnDevice<float> src(std::vector<float>(static_cast<std::size_t>(hop.num_src) * 2), stream),
        dst(std::vector<float>(static_cast<std::size_t>(hop.num_dst) * 2), stream),
        logits(test::AttentionResult::poison(num_attention_edges(num_entries, hop.num_dst) * 2), stream);
    gat_logits(device_hop.edges(), {2, 0.2f, src.get(), dst.get()}, logits.get(),
               {stream.get(), AttentionBins::make(memory.get(), hop.num_src)});
    std::vector<LocalId> values = memory.read(stream);
    const AttentionBins bins = AttentionBins::make(values.data(), hop.num_src);
    std::vector<std::array<std::int64_t, 3>> found, expected;
    for (std::int64_t j = 0; j < hop.num_src; ++j)
      for (std::uint32_t t = 0; t < std::min<std::uint32_t>(bins.counts[j], kEdgesPerBin); ++t)
        found.push_back({j, bins.edges[(j * kEdgesPerBin + t) * 2], bins.edges[(j * kEdgesPerBin + t) * 2 + 1]});
    for (std::uint32_t t = 0; t < *bins.num_listed; ++t)
      found.push_back({bins.listed[3 * t], bins.listed[3 * t + 1], bins.listed[3 * t + 2]});
    for (std::int64_t i = 0; i < hop.num_dst; ++i)
      for_each_edge(
          hop.edges(), i,
          [&](std::int64_t j, std::int64_t edge) {
            if (j != i) expected.push_back({j, i, edge});
          },
          [](std::int64_t) {});
    std::sort(found.begin(), found.end()), std::sort(expected.begin(), expected.end());
    EXPECT_EQ(found, expected) << hop.num_dst << " rows";
  }
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

/// Gradients of the whole of GATv2's attention; z_src's through logits and sum together.
struct Gatv2AttentionGradients {
  std::vector<float> src, dst, att;
};

/// By the host's kernels, one after the other.
Gatv2AttentionGradients expected_gradients(const test::Gatv2Case& c, const std::vector<float>& grad_out,
                                           std::vector<float>& weights, std::vector<float>& out) {
  const HopEdges hop = c.hop.edges();
  test::Gatv2Result r(c);
  weights = r.logits, out = grad_out;
  std::vector<float> grad_edges = r.logits, grad_values = r.grad_src;
  gatv2_logits(hop, c.inputs(), weights.data());
  edge_softmax(hop, c.shape.heads, weights.data());
  attention_sum(hop, {c.shape, weights.data(), c.z_src.data()}, out.data());
  attention_sum_backward(hop, {c.shape, weights.data(), c.z_src.data()}, grad_out.data(),
                         {grad_edges.data(), grad_values.data()});
  edge_softmax_backward(hop, c.shape.heads, weights.data(), grad_edges.data());
  gatv2_logits_backward(hop, c.inputs(), grad_edges.data(), {r.grad_src.data(), r.grad_dst.data(), r.grad_att.data()});
  for (std::size_t i = 0; i < grad_values.size(); ++i) r.grad_src[i] += grad_values[i];
  std::vector<float> grad_att(c.att.size());
  for (std::size_t i = 0; i < r.grad_att.size(); ++i) grad_att[i % grad_att.size()] += r.grad_att[i];
  return {r.grad_src, r.grad_dst, grad_att};
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected, double bound) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], bound * (1 + std::abs(expected[i]))) << "at " << i;
}

void expect_binned_gradients_are_the_hosts(const test::Gatv2Case& c, const CudaStream& stream) {
  const ::testing::ScopedTrace trace(__FILE__, __LINE__,
                                     std::to_string(c.hop.num_dst) + " rows, " + std::to_string(c.shape.heads) +
                                         " heads of " + std::to_string(c.shape.channels));
  const std::vector<float> grad_out = test::random_values(c.hop.num_dst * c.shape.width(), 11);
  std::vector<float> weights, out;
  const Gatv2AttentionGradients expected = expected_gradients(c, grad_out, weights, out);

  const DeviceHop device_hop(c.hop, stream);
  const auto poison = [](std::int64_t count) { return test::AttentionResult::poison(count); };
  const DeviceBins bins(c.hop, stream);
  const OnDevice<float> src(c.z_src, stream), dst(c.z_dst, stream), att(c.att, stream), w(weights, stream),
      o(out, stream), g(grad_out, stream);
  const OnDevice<float> row_dots(poison(c.hop.num_dst * c.shape.heads), stream),
      grad_logits(poison(c.num_edges() * c.shape.heads), stream),
      grad_src(poison(c.hop.num_src * c.shape.width()), stream),
      grad_dst(poison(c.hop.num_dst * c.shape.width()), stream),
      grad_att(poison(kGatv2AttParts * c.shape.width()), stream);
  const OnDevice<std::uint8_t> signs(
      std::vector<std::uint8_t>(static_cast<std::size_t>(c.num_edges() * c.shape.width() / 4), 0x55), stream);
  const Gatv2Inputs inputs{c.shape, c.slope, src.get(), dst.get(), att.get()};
  const OnDevice<float> logits(poison(c.num_edges() * c.shape.heads), stream),
      plain_logits(poison(c.num_edges() * c.shape.heads), stream);
  gatv2_logits(device_hop.edges(), inputs, logits.get(), {stream.get(), bins.bins(), signs.get()});
  gatv2_logits(device_hop.edges(), inputs, plain_logits.get(), stream.get());
  EXPECT_EQ(logits.read(stream), plain_logits.read(stream)) << "what is kept changes nothing";
  gatv2_attention_backward_binned(device_hop.edges(), inputs, {w.get(), o.get(), g.get(), bins.bins(), signs.get()},
                                  {grad_src.get(), grad_dst.get(), grad_att.get()}, {row_dots.get(), grad_logits.get()},
                                  stream.get());
  bins.expect_nothing_behind(stream);
  expect_near(grad_src.read(stream), expected.src, 2e-4);
  expect_near(grad_dst.read(stream), expected.dst, 2e-4);
  std::vector<float> summed(c.att.size());
  const std::vector<float> parts = grad_att.read(stream);
  for (std::size_t i = 0; i < parts.size(); ++i) summed[i % summed.size()] += parts[i];
  expect_near(summed, expected.att, 2e-5 * static_cast<double>(10 + c.num_edges()));
}

TEST(Gatv2AttentionOnDevice, ThroughBinsHasTheGradientsOfTheHost) {  // hubs have more entries than a bin has room
  const CudaStream stream;
  for (const Heads shape : {Heads{1, 4}, Heads{1, 20}, Heads{1, 128}, Heads{1, 256}, Heads{2, 64}, Heads{3, 16},
                            Heads{4, 32}, Heads{5, 128}, Heads{8, 32}, Heads{70, 8}, Heads{2, 252}})
    for (const test::OwnedHop& hop : hops_for_bins())
      expect_binned_gradients_are_the_hosts(test::Gatv2Case(hop, shape, 7), stream);
}

}  // namespace
}  // namespace salient
