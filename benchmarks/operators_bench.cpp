// benchmarks/operators_bench.cpp - the neighbour operators and dropout, beside torch's own operators in the same run.
//
// Hops: the outer and the middle one of a batch of 1024 seeds with fanouts 15,10,5, sources drawn at random: f16 rows
//       of 128 columns as features come, f32 rows of 256 columns as hidden layers are. Dropout: the outer hop's result.
// Rate: MB are the bytes that any implementation must move (a row per edge and the result, once), GB/s their rate, and
//       of_copy its share of what a plain copy of 512 MB reaches (read + write) on the same device with the same
//       threads. Above 1 where rows are read again from a cache.
// Torch: index_select, index_add, index_reduce, scatter_reduce; these write and read every edge's row once more.
// Time: of 16 calls between two synchronisations, as in a training step.
// "fixed" is the backward pass with GradientOrder::kFixed, sorting included; a CPU's order is always fixed.
//   operators_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <ranges>

#include "models/ops/dropout.h"
#include "models/ops/operators.h"
#include "tests/support/batch_views.h"

namespace salient {
namespace {

struct Shape {
  std::int64_t num_dst, num_src, degree, width;
  at::ScalarType type;
};
constexpr Shape kOuter{100'000, 400'000, 5, 128, at::kHalf};
constexpr Shape kOuterOfF32{100'000, 400'000, 5, 128, at::kFloat};
constexpr Shape kMiddle{15'000, 100'000, 10, 256, at::kFloat};

void wait_for(at::Device device) {
  if (device.is_cuda()) c10::impl::getDeviceGuardImpl(at::kCUDA)->synchronizeDevice(0);
}

template <class F>
double seconds_of(at::Device device, const F& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  wait_for(device);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Bytes read and written per second by a copy of 512 MB, best of five.
double copy_rate(at::Device device) {
  const at::Tensor from = at::ones({1 << 27}, at::TensorOptions().dtype(at::kFloat).device(device));
  at::Tensor to = at::empty_like(from);
  double best = 1e9;
  for (int run = 0; run < 5; ++run) best = std::min(best, seconds_of(device, [&] { to.copy_(from); }));
  return 2.0 * static_cast<double>(from.nbytes()) / best;
}

/// copy_rate(), measured once.
double limit_of(at::DeviceType type) {
  static std::map<at::DeviceType, double> rates;
  const auto [at, is_new] = rates.try_emplace(type, 0.0);
  if (is_new) at->second = copy_rate(type);
  return at->second;
}

struct Input {
  HopView hop;
  at::Tensor x;                     ///< [num_src, width]
  at::Tensor x_dst;                 ///< [num_dst, width] of f32
  at::Tensor grad;                  ///< [num_dst, width]
  at::Tensor score_src, score_dst;  ///< [num_src, 1], [num_dst, 1]
  at::Tensor att;                   ///< [1, width]
  at::Tensor nodes;                 ///< int32 [num_src], for dropout
  at::Tensor src, dst;              ///< int64 [edges + num_dst], for torch: the entries, then the self loops
  std::int64_t num_edges;
};

Input make_input(const Shape& s, at::Device device) {
  const at::Tensor indptr = at::arange(s.num_dst + 1).mul(s.degree), own = at::arange(s.num_dst);
  // Sources behind the destinations: no entry is a self loop, which attention would treat apart.
  const at::Tensor src = at::randint(s.num_dst, s.num_src, {s.num_dst * s.degree}, at::kLong);
  const auto f32 = at::TensorOptions().dtype(at::kFloat).device(device);
  return {{s.num_dst, s.num_src, indptr.to(at::kInt).to(device), src.to(at::kInt).to(device)},
          at::randn({s.num_src, s.width}).to(s.type).to(device),
          at::randn({s.num_dst, s.width}, f32).requires_grad_(),
          at::randn({s.num_dst, s.width}, f32),
          at::randn({s.num_src, 1}, f32),
          at::randn({s.num_dst, 1}, f32),
          at::randn({1, s.width}, f32),
          at::arange(s.num_src, at::kInt).to(device),
          at::cat({src, own}).to(device),
          at::cat({own.repeat_interleave(s.degree), own}).to(device),
          s.num_dst * s.degree};
}

at::Tensor torch_mean(const Input& in, const at::Tensor& x, GradientOrder) {
  const at::Tensor src = in.src.narrow(0, 0, in.num_edges), dst = in.dst.narrow(0, 0, in.num_edges);
  const double degree = static_cast<double>(in.num_edges) / static_cast<double>(in.hop.num_dst);
  return at::zeros_like(in.grad).index_add(0, dst, x.index_select(0, src).to(at::kFloat)).div(degree);
}

at::Tensor torch_attention(const Input& in, const at::Tensor& x, GradientOrder) {
  const at::Tensor raw = in.score_src.index_select(0, in.src) + in.score_dst.index_select(0, in.dst);
  const at::Tensor logits = at::leaky_relu(raw, 0.2);
  const at::Tensor largest =
      at::full_like(in.score_dst, -1e30).scatter_reduce(0, in.dst.unsqueeze(1), logits.detach(), "amax");
  const at::Tensor exps = at::exp(logits - largest.index_select(0, in.dst));
  const at::Tensor totals = at::zeros_like(in.score_dst).index_add(0, in.dst, exps);
  const at::Tensor weights = exps / totals.index_select(0, in.dst);
  return at::zeros_like(in.grad).index_add(0, in.dst, weights * x.index_select(0, in.src));
}

at::Tensor torch_max(const Input& in, const at::Tensor& x, GradientOrder) {
  const at::Tensor src = in.src.narrow(0, 0, in.num_edges), dst = in.dst.narrow(0, 0, in.num_edges);
  return at::zeros_like(in.grad).index_reduce(0, dst, x.index_select(0, src), "amax", /*include_self=*/false);
}

/// GATv2: z_src = x, z_dst = x_dst, one head.
at::Tensor torch_attention_v2(const Input& in, const at::Tensor& x, GradientOrder) {
  const at::Tensor rows = x.index_select(0, in.src);
  const at::Tensor raw = at::leaky_relu(rows + in.x_dst.index_select(0, in.dst), 0.2);
  const at::Tensor logits = raw.mul(in.att).sum(1, true);
  const at::Tensor largest =
      at::full_like(in.score_dst, -1e30).scatter_reduce(0, in.dst.unsqueeze(1), logits.detach(), "amax");
  const at::Tensor exps = at::exp(logits - largest.index_select(0, in.dst));
  const at::Tensor totals = at::zeros_like(in.score_dst).index_add(0, in.dst, exps);
  return at::zeros_like(in.grad).index_add(0, in.dst, exps / totals.index_select(0, in.dst) * rows);
}

using Operator = std::function<at::Tensor(const Input&, const at::Tensor& x, GradientOrder order)>;

struct Case {
  std::string name;
  Shape shape;
  Operator ours, torch;
  double rows_in;   ///< of `width` values of x's type that the forward pass must read
  double rows_out;  ///< of f32 that it must write
  bool has_same_result = true;
  bool has_backward = true;
};

std::vector<Case> cases() {
  using Order = GradientOrder;
  const auto mean = [](const Input& in, const at::Tensor& x, Order order) { return segment_mean(in.hop, x, order); };
  const auto attend = [](const Input& in, const at::Tensor& x, Order order) {
    return attention(in.hop, x, in.score_src, in.score_dst, order);
  };
  const auto max = [](const Input& in, const at::Tensor& x, Order order) { return segment_max(in.hop, x, order); };
  const auto attend_v2 = [](const Input& in, const at::Tensor& x, Order order) {
    return attention_v2(in.hop, x, in.x_dst, in.att, order);
  };
  const auto drop = [](const Input& in, const at::Tensor& x, Order) {
    return relu_dropout(x, 0.5, {1, 2, in.nodes}, 0);
  };
  const auto torch_drop = [](const Input&, const at::Tensor& x, Order) { return at::dropout(at::relu(x), 0.5, true); };
  const auto edges = [](const Shape& s) { return static_cast<double>(s.num_dst * s.degree); };
  const auto dst = [](const Shape& s) { return static_cast<double>(s.num_dst); };
  const auto src = static_cast<double>(kMiddle.num_src);
  return {{"mean outer f16x128", kOuter, mean, torch_mean, edges(kOuter), dst(kOuter), true, false},
          {"mean outer f32x128", kOuterOfF32, mean, torch_mean, edges(kOuterOfF32), dst(kOuterOfF32)},
          {"mean middle f32x256", kMiddle, mean, torch_mean, edges(kMiddle), dst(kMiddle)},
          {"max middle f32x256", kMiddle, max, torch_max, edges(kMiddle), 2 * dst(kMiddle)},
          {"attention middle f32x256", kMiddle, attend, torch_attention, edges(kMiddle) + dst(kMiddle), dst(kMiddle)},
          {"attention v2 middle f32x256", kMiddle, attend_v2, torch_attention_v2, 2 * edges(kMiddle) + 3 * dst(kMiddle),
           dst(kMiddle)},
          {"relu+dropout 100k x 256", kMiddle, drop, torch_drop, src, src, false}};
}

/// Calls between two synchronisations, as in a training step: a GPU does not wait for the host between them.
constexpr std::ranges::iota_view<int, int> kCalls{0, 16};

enum class Who { kOurs, kOursFixed, kTorch };

const char* name_of(Who who) { return who == Who::kOurs ? "ours" : who == Who::kTorch ? "torch" : "fixed"; }
enum class Pass { kForward, kBackward };

void run(benchmark::State& state, const Case& c, Who who, Pass pass, at::DeviceType type) {
  const at::Device device(type);
  const Input in = make_input(c.shape, device);
  const at::Tensor x = pass == Pass::kBackward ? in.x.detach().requires_grad_() : in.x;
  const auto order = who == Who::kOursFixed ? GradientOrder::kFixed : GradientOrder::kAny;
  if (c.has_same_result && !at::allclose(c.ours(in, x, order), c.torch(in, x, order), 1e-4, 1e-4))
    return state.SkipWithError("results differ");
  const Operator& forward = who == Who::kTorch ? c.torch : c.ours;
  at::Tensor out = forward(in, x, order);
  const at::Tensor grad = at::ones_like(out);
  const auto call = [&] {
    x.mutable_grad() = in.x_dst.mutable_grad() = at::Tensor();  // gradients are not added to those of the last call
    pass == Pass::kForward ? void(out = forward(in, x, order)) : out.backward(grad, /*retain_graph=*/true);
  };
  for (auto _ : state)
    state.SetIterationTime(seconds_of(device, [&] { std::ranges::for_each(kCalls, [&](int) { call(); }); }) /
                           static_cast<double>(kCalls.size()));
  const double width = static_cast<double>(c.shape.width),
               in_bytes = static_cast<double>(c10::elementSize(c.shape.type));
  const double bytes = pass == Pass::kForward ? width * (c.rows_in * in_bytes + c.rows_out * 4)
                                              : width * 4 * (c.rows_in + static_cast<double>(c.shape.num_src));
  const auto rate = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["GB/s"] = benchmark::Counter(bytes / 1e9, rate);
  state.counters["MB"] = bytes / 1e6;
  state.counters["of_copy"] = benchmark::Counter(bytes / limit_of(type), rate);
}

const bool kRegistered = [] {
  std::vector<at::DeviceType> devices{at::kCPU};
  if (at::getNumGPUs() > 0) devices.push_back(at::kCUDA);
  for (const at::DeviceType device : devices)
    for (const Case& c : cases())
      for (const Pass pass : {Pass::kForward, Pass::kBackward})
        for (const Who who : {Who::kOurs, Who::kOursFixed, Who::kTorch}) {
          if (pass == Pass::kBackward && !c.has_backward) continue;
          if (who == Who::kOursFixed && (pass == Pass::kForward || device == at::kCPU)) continue;
          const std::string name = std::string(device == at::kCPU ? "cpu/" : "cuda/") + c.name +
                                   (pass == Pass::kForward ? "/forward/" : "/backward/") + name_of(who);
          benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { run(state, c, who, pass, device); })
              ->UseManualTime()
              ->MinTime(0.5 / static_cast<double>(kCalls.size()))
              ->Unit(benchmark::kMillisecond);
        }
  return true;
}();

}  // namespace
}  // namespace salient
