// benchmarks/segment_bench.cpp - neighbour means, forward and backward, beside torch's index operators in the same run.
//
// Hops: the outer and the middle one of a batch of 1024 seeds with fanouts 15,10,5, sources drawn at random: f16 rows of
//       128 columns as features come, f32 rows of 256 columns as hidden layers are.
// Rate: GB/s of the bytes that any implementation must move: one row per edge, and the result; `of_limit` is its share of
//       what a plain copy of a large array reaches (read + write) on the same device with the same threads.
// Torch: index_select, index_add, divide; it writes and reads every edge's row once more.
//   segment_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>
#if SALIENT_HAS_CUDA
#include <c10/cuda/CUDAFunctions.h>
#endif

#include <algorithm>
#include <chrono>

#include "models/ops/operators.h"
#include "tests/support/batch_views.h"

namespace salient {
namespace {

struct Case {
  const char* name;
  std::int64_t num_dst, num_src, degree, width;
  at::ScalarType type;
};
constexpr Case kOuter{"outer f16x128", 100'000, 400'000, 5, 128, at::kHalf};
constexpr Case kMiddle{"middle f32x256", 15'000, 100'000, 10, 256, at::kFloat};

void wait_for(at::Device device) {
#if SALIENT_HAS_CUDA
  if (device.is_cuda()) c10::cuda::device_synchronize();
#else
  (void)device;
#endif
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

struct Input {
  HopView hop;
  at::Tensor x;            ///< [num_src, width]
  at::Tensor grad;         ///< [num_dst, width]
  at::Tensor src, dst;     ///< int64 [edges], for torch
  at::Tensor num_entries;  ///< f32 [num_dst, 1]
};

Input make_input(const Case& c, at::Device device) {
  const at::Tensor indptr = at::arange(c.num_dst + 1).mul(c.degree);
  const at::Tensor src = at::randint(c.num_src, {c.num_dst * c.degree}, at::kLong);
  const auto f32 = at::TensorOptions().dtype(at::kFloat).device(device);
  return {{c.num_dst, c.num_src, indptr.to(at::kInt).to(device), src.to(at::kInt).to(device)},
          at::randn({c.num_src, c.width}).to(c.type).to(device),
          at::randn({c.num_dst, c.width}, f32),
          src.to(device),
          at::arange(c.num_dst).repeat_interleave(c.degree).to(device),
          at::full({c.num_dst, 1}, static_cast<double>(c.degree), f32)};
}

at::Tensor torch_mean(const Input& in, const at::Tensor& x) {
  const at::Tensor rows = x.index_select(0, in.src).to(at::kFloat);
  return at::zeros_like(in.grad).index_add(0, in.dst, rows).div(in.num_entries);
}

enum class Who { kOurs, kTorch };
enum class Pass { kForward, kBackward };

void run(benchmark::State& state, const Case& c, Who who, Pass pass, at::DeviceType type) {
  const at::Device device(type);
  const Input in = make_input(c, device);
  const at::Tensor x = pass == Pass::kBackward ? in.x.detach().requires_grad_() : in.x;
  const auto forward = [&] { return who == Who::kOurs ? segment_mean(in.hop, x) : torch_mean(in, x); };
  if (!at::allclose(segment_mean(in.hop, x), torch_mean(in, x), 1e-4, 1e-4)) return state.SkipWithError("not equal");
  at::Tensor out = forward();
  for (auto _ : state) {
    x.mutable_grad() = at::Tensor();
    const auto work = [&] {
      if (pass == Pass::kForward)
        out = forward();
      else
        out.backward(in.grad, /*retain_graph=*/true);
    };
    state.SetIterationTime(seconds_of(device, work));
  }
  const auto edges = static_cast<double>(c.num_dst * c.degree), width = static_cast<double>(c.width);
  const double result_rows = static_cast<double>(pass == Pass::kForward ? c.num_dst : c.num_src);
  const double row_bytes = width * (pass == Pass::kForward ? static_cast<double>(c10::elementSize(c.type)) : 4.0);
  const double bytes = edges * (row_bytes + 4) + result_rows * width * 4;
  static const double limits[2] = {copy_rate(at::kCPU), type == at::kCUDA ? copy_rate(at::kCUDA) : 0};
  const auto per_second = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["GB/s"] = benchmark::Counter(bytes / 1e9, per_second);
  state.counters["of_limit"] = benchmark::Counter(bytes / limits[type == at::kCUDA], per_second);
}

const bool kRegistered = [] {
  std::vector<at::DeviceType> devices{at::kCPU};
#if SALIENT_HAS_CUDA
  if (c10::cuda::device_count() > 0) devices.push_back(at::kCUDA);
#endif
  for (const at::DeviceType device : devices)
    for (const Case& c : {kOuter, kMiddle})
      for (const Pass pass : {Pass::kForward, Pass::kBackward})
        for (const Who who : {Who::kOurs, Who::kTorch}) {
          if (pass == Pass::kBackward && c.type == at::kHalf) continue;  // features have no gradient
          const std::string name = std::string(device == at::kCPU ? "cpu/" : "cuda/") + c.name +
                                   (pass == Pass::kForward ? "/forward/" : "/backward/") +
                                   (who == Who::kOurs ? "ours" : "torch");
          benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { run(state, c, who, pass, device); })
              ->UseManualTime()
              ->Unit(benchmark::kMillisecond);
        }
  return true;
}();

}  // namespace
}  // namespace salient
