// workbench/backend/cuda_executor.cpp - see cuda_executor.h.
#include "workbench/backend/cuda_executor.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/backend/cuda_driver.h"

namespace salient::workbench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kCopyLaps = 6, kDynamicSharedBytes = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr unsigned kNonBlocking = 1;
constexpr int kRelaxedCapture = 2;
constexpr std::int64_t kPlainSharedBytes = 48 << 10;

/// Fills a block's shared memory, so that no candidate finds zeros there.
constexpr const char* kDirtyPtx = R"(.version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dirt[];
.visible .entry salient_dirty(.param .u32 bytes, .param .u32 value)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  ld.param.u32 %r1, [bytes];
  ld.param.u32 %r2, [value];
  mov.u32 %r3, %tid.x;
  shl.b32 %r3, %r3, 2;
  mov.u32 %r4, %ntid.x;
  shl.b32 %r4, %r4, 2;
  mov.u32 %r5, dirt;
L1:
  setp.ge.u32 %p1, %r3, %r1;
  @%p1 bra L2;
  add.u32 %r6, %r5, %r3;
  st.volatile.shared.u32 [%r6], %r2;
  add.u32 %r3, %r3, %r4;
  bra L1;
L2:
  ret;
}
)";

int attribute(int device, CudaAttribute which) {
  int value = 0;
  driver_check(cuda_driver().device_attribute(&value, static_cast<int>(which), device), "asking the GPU");
  return value;
}

int first_device() {
  const CudaDriver& d = cuda_driver();
  int device = 0;
  if (d.init(0) != kCudaSuccess || d.device_get(&device, 0) != kCudaSuccess)
    fail(ErrorKind::kNoDevice, "there is no GPU");
  return device;
}

class CudaExecutor final : public Executor {
 public:
  CudaExecutor(const std::vector<Artifact>& artifacts, std::size_t arena_bytes) : d_(cuda_driver()) {
    const int device = first_device();
    CudaContext context = nullptr;
    driver_check(d_.context_retain(&context, device), "making a context");
    driver_check(d_.context_set(context), "making a context");
    driver_check(d_.stream_create(&stream_, kNonBlocking), "making a stream");
    driver_check(d_.event_create(&start_, 0), "making an event");
    driver_check(d_.event_create(&end_, 0), "making an event");
    shared_bytes_ = attribute(device, CudaAttribute::kMaxSharedBytes);
    multiprocessors_ = attribute(device, CudaAttribute::kMultiprocessors);
    driver_check(d_.allocate(&memory_, arena_bytes), "taking memory");
    CudaModule helper = nullptr;
    driver_check(d_.module_load(&helper, kDirtyPtx), "loading a helper");
    driver_check(d_.module_function(&dirty_, helper, "salient_dirty"), "loading a helper");
    driver_check(d_.function_set(dirty_, kDynamicSharedBytes, shared_bytes_), "loading a helper");
    for (const Artifact& artifact : artifacts) {
      const std::string image = read_text_file(artifact.file);
      modules_.emplace_back();
      driver_check(d_.module_load(&modules_.back(), image.data()), "loading a kernel");
    }
  }

  void run(const RunOrder& order, Arena& arena) override {
    driver_check(d_.to_device(memory_, arena.data(), order.end), "copying to the GPU");
    dirty_shared_memory(order.shuffle);
    launch_all(order);
    driver_check(d_.stream_wait(stream_), "running the kernel");
    driver_check(d_.to_host(arena.data(), memory_, order.end), "copying from the GPU");
  }

  void time(const TimingPlan& plan, Arena& arena, SampleTimes* times) override {
    driver_check(d_.to_device(memory_, arena.data(), arena.size()), "copying to the GPU");
    std::map<std::vector<std::size_t>, CudaGraphExec> graphs;
    for (const TimedSample& sample : plan.samples) {
      if (graphs.contains(sample.orders)) continue;
      launch_all(
          plan.orders[sample.orders.front()]);  // loads the code, which must not happen while launches are recorded
      driver_check(d_.stream_wait(stream_), "running the kernel");
      graphs[sample.orders] = capture([&] {
        for (const std::size_t o : sample.orders) launch_all(plan.orders[o]);
      });
    }
    for (const TimedSample& sample : plan.samples) {
      for (const std::size_t o : sample.orders) restore(plan.restores[o]);
      *times++ = run_graph(graphs[sample.orders]);
    }
    driver_check(d_.to_host(arena.data(), memory_, arena.size()), "copying from the GPU");
  }

  double copy_rate(Arena& arena, std::size_t bytes, std::size_t set_bytes) override {
    const std::size_t all = std::min(bytes, arena.size());
    return std::max(rate_of_copies(all, set_bytes), rate_of_copies(all, all));
  }

 private:
  template <class Action>
  CudaGraphExec capture(Action action) {
    CudaGraph graph = nullptr;
    CudaGraphExec executable = nullptr;
    driver_check(d_.capture_begin(stream_, kRelaxedCapture), "recording launches");
    action();
    driver_check(d_.capture_end(stream_, &graph), "recording launches");
    driver_check(d_.graph_instantiate(&executable, graph, 0), "recording launches");
    driver_check(d_.graph_destroy(graph), "recording launches");
    return executable;
  }

  SampleTimes run_graph(CudaGraphExec graph) {
    driver_check(d_.stream_wait(stream_), "preparing a run");
    const auto begin = Clock::now();
    driver_check(d_.event_record(start_, stream_), "timing a run");
    driver_check(d_.graph_launch(graph, stream_), "timing a run");
    driver_check(d_.event_record(end_, stream_), "timing a run");
    driver_check(d_.event_wait(end_), "running the kernel");
    const double wall = std::chrono::duration<double>(Clock::now() - begin).count();
    float milliseconds = 0;
    driver_check(d_.event_elapsed(&milliseconds, start_, end_), "timing a run");
    return {double{milliseconds} * 1e-3, wall};
  }

  double rate_of_copies(std::size_t bytes, std::size_t set_bytes) {
    const std::size_t half = std::max<std::size_t>(256, std::min(set_bytes, bytes) / 512 * 256);
    const std::size_t sets = std::max<std::size_t>(1, bytes / (2 * half));
    if (2 * half > bytes) return 0;
    const CudaGraphExec graph = capture([&] {
      for (std::size_t s = 0; s < sets; ++s)
        driver_check(d_.copy(memory_ + (2 * s + 1) * half, memory_ + 2 * s * half, half, stream_),
                     "copying on the GPU");
    });
    double best = 1e9;
    for (int lap = 0; lap < kCopyLaps; ++lap) {
      for (std::size_t s = 0; s < sets; ++s) restore({{(2 * s + 1) * half, half, {}}});
      best = std::min(best, run_graph(graph).seconds);
    }
    return 2.0 * static_cast<double>(half * sets) / best;
  }

  void restore(const std::vector<Restore>& list) {
    for (const Restore& one : list) {
      if (one.from)
        driver_check(d_.copy(memory_ + one.to, memory_ + *one.from, one.bytes, stream_), "restoring inputs");
      else
        driver_check(d_.fill(memory_ + one.to, std::to_integer<unsigned char>(kPoisons[0]), one.bytes, stream_),
                     "poisoning outputs");
    }
  }

  void dirty_shared_memory(std::uint64_t shuffle) {
    auto bytes = static_cast<unsigned>(shared_bytes_);
    unsigned value = std::to_integer<unsigned>(kPoisons[shuffle % 2]) * 0x01010101U;
    void* parameters[] = {&bytes, &value};
    driver_check(d_.launch(dirty_, static_cast<unsigned>(multiprocessors_) * 2, 1, 1, 1024, 1, 1, bytes, stream_,
                           parameters, nullptr),
                 "dirtying shared memory");
  }

  CudaFunction function_of(std::size_t artifact, const Launch& launch) {
    CudaFunction& function = functions_[{artifact, launch.kernel}];
    if (function == nullptr)
      driver_check(d_.module_function(&function, modules_[artifact], launch.kernel.c_str()), "finding a kernel");
    if (launch.smem > kPlainSharedBytes)
      driver_check(d_.function_set(function, kDynamicSharedBytes, static_cast<int>(launch.smem)), "shared memory");
    return function;
  }

  void launch_all(const RunOrder& order) {
    std::vector<std::uint64_t> values;
    for (const Argument& argument : order.arguments)
      values.push_back(static_cast<std::uint64_t>(argument.value) + (argument.is_offset ? memory_ : 0));
    std::vector<void*> parameters;
    for (std::uint64_t& value : values) parameters.push_back(&value);
    const auto u = [](std::int64_t value) { return static_cast<unsigned>(value); };
    for (const Launch& launch : order.launches)
      driver_check(
          d_.launch(function_of(order.artifact, launch), u(launch.grid[0]), u(launch.grid[1]), u(launch.grid[2]),
                    u(launch.block[0]), u(launch.block[1]), 1, u(launch.smem), stream_, parameters.data(), nullptr),
          "launching the kernel");
  }

  const CudaDriver& d_;  // memory, streams and modules go with the process
  CudaStreamHandle stream_ = nullptr;
  CudaEventHandle start_ = nullptr, end_ = nullptr;
  CudaPointer memory_ = 0;
  CudaFunction dirty_ = nullptr;
  int shared_bytes_ = 0, multiprocessors_ = 0;
  std::vector<CudaModule> modules_{};
  std::map<std::pair<std::size_t, std::string>, CudaFunction> functions_{};
};

}  // namespace

std::unique_ptr<Executor> make_cuda_executor(const std::vector<Artifact>& artifacts, std::size_t arena_bytes) {
  return std::make_unique<CudaExecutor>(artifacts, arena_bytes);
}

CudaFacts query_cuda() {
  CudaFacts facts;
  const int device = first_device();
  driver_check(cuda_driver().device_name(facts.name, sizeof facts.name, device), "asking the GPU");
  driver_check(cuda_driver().driver_version(&facts.driver), "asking the driver");
  facts.major = attribute(device, CudaAttribute::kMajor);
  facts.minor = attribute(device, CudaAttribute::kMinor);
  facts.sm = attribute(device, CudaAttribute::kMultiprocessors);
  facts.clock_kilohertz = attribute(device, CudaAttribute::kClockKilohertz);
  facts.cache_bytes = attribute(device, CudaAttribute::kCacheBytes);
  return facts;
}

Machine machine_of(const CudaFacts& facts) {
  // Operations per multiprocessor and clock, from NVIDIA's tables of arithmetic throughput.
  const bool is_data_center = facts.minor == 0;
  const double f32 = facts.major == 8 && is_data_center ? 128 : 256;
  const double bf16 = facts.major >= 10 ? 8192 : facts.major == 9 ? 4096 : is_data_center ? 2048 : 1024;
  const double clocks = static_cast<double>(facts.sm) * facts.clock_kilohertz * 1e3;
  return {.name = facts.name,
          .sm = facts.sm,
          .cache_bytes = static_cast<std::size_t>(facts.cache_bytes),
          .flops = f32 * clocks,
          .tf32_tensor_flops = bf16 / 2 * clocks,
          .bf16_tensor_flops = bf16 * clocks};
}

}  // namespace salient::workbench
