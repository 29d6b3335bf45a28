// workbench/backend/cuda_executor.cpp - see cuda_executor.h.
#include "workbench/backend/cuda_executor.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/backend/cuda_ceilings.h"
#include "workbench/backend/cuda_driver.h"
#include "workbench/backend/cuda_helpers.h"
#include "workbench/backend/nvml.h"

namespace salient::workbench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kCopyLaps = 20;
constexpr double kWarmSeconds = 0.1;
constexpr int kDynamicSharedBytes = 8, kSharedCarveOut = 9;  // CU_FUNC_ATTRIBUTE_...: in bytes, in percent
constexpr int kAllShared = 100;
constexpr unsigned kNonBlocking = 1;
constexpr int kRelaxedCapture = 2;
constexpr std::size_t kFlushFactor = 4;

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

/// A CUDA graph of what `action` launches on the stream.
template <class Action>
CudaGraphExec capture(CudaStreamHandle stream, Action action) {
  const CudaDriver& d = cuda_driver();
  CudaGraph graph = nullptr;
  CudaGraphExec executable = nullptr;
  driver_check(d.capture_begin(stream, kRelaxedCapture), "recording launches");
  action();
  driver_check(d.capture_end(stream, &graph), "recording launches");
  driver_check(d.graph_instantiate(&executable, graph, 0), "recording launches");
  driver_check(d.graph_destroy(graph), "recording launches");
  return executable;
}

/// One of the helpers that read `bytes` at `from`; `to` is their last parameter.
void launch_helper(CudaFunction helper, CudaPointer from, std::size_t bytes, CudaPointer to, unsigned blocks,
                   CudaStreamHandle stream) {
  unsigned long long words = bytes / 16;
  void* parameters[] = {&from, &words, &to};
  driver_check(cuda_driver().launch(helper, blocks, 1, 1, 512, 1, 1, 0, stream, parameters, nullptr),
               "running a helper");
}

/// The clock rate of a multiprocessor between two places of a stream.
class DeviceClock {
 public:
  explicit DeviceClock(CudaModule helper) {
    driver_check(cuda_driver().module_function(&read_, helper, "salient_clock"), "loading a helper");
    driver_check(cuda_driver().allocate(&readings_, 2 * sizeof(Reading)), "taking memory");
  }

  /// @param place  0, then 1
  void read(CudaStreamHandle stream, std::size_t place) {
    CudaPointer to = readings_ + place * sizeof(Reading);
    void* parameters[] = {&to};
    driver_check(cuda_driver().launch(read_, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr), "reading the clock");
  }

  /// Hertz; 0 where the two were read on two multiprocessors, which count for themselves.
  double rate(CudaStreamHandle stream) const {
    Reading both[2];
    driver_check(cuda_driver().to_host(both, readings_, sizeof both, stream), "reading the clock");
    driver_check(cuda_driver().stream_wait(stream), "reading the clock");
    const auto cycles = static_cast<double>(both[1].cycles - both[0].cycles);
    const bool is_known = both[0].multiprocessor == both[1].multiprocessor && both[1].nanoseconds > both[0].nanoseconds;
    return is_known ? cycles / static_cast<double>(both[1].nanoseconds - both[0].nanoseconds) * 1e9 : 0;
  }

 private:
  /// As salient_clock writes it.
  struct Reading {
    std::uint64_t cycles = 0, nanoseconds = 0, multiprocessor = 0;
  };

  CudaFunction read_ = nullptr;
  CudaPointer readings_ = 0;
};

class CudaExecutor final : public Executor {
 public:
  CudaExecutor(const std::vector<Artifact>& artifacts, std::size_t arena_bytes)
      : d_(cuda_driver()), artifacts_(artifacts) {
    const int device = device_ = first_device();
    CudaContext context = nullptr;
    driver_check(d_.context_retain(&context, device), "making a context");
    driver_check(d_.context_set(context), "making a context");
    driver_check(d_.stream_create(&stream_, kNonBlocking), "making a stream");
    for (CudaEventHandle* event : {&start_, &end_}) driver_check(d_.event_create(event, 0), "making an event");
    shared_bytes_ = attribute(device, CudaAttribute::kMaxSharedBytes);
    multiprocessors_ = attribute(device, CudaAttribute::kMultiprocessors);
    driver_check(d_.allocate(&memory_, arena_bytes), "taking memory");
    flush_bytes_ = kFlushFactor * static_cast<std::size_t>(attribute(device, CudaAttribute::kCacheBytes)) / 16 * 16;
    driver_check(d_.allocate(&flushed_, flush_bytes_ + 16), "taking memory");
    driver_check(d_.fill(flushed_, 0, flush_bytes_ + 16, stream_), "taking memory");
    CudaModule helper = nullptr;
    driver_check(d_.module_load(&helper, kHelperPtx), "loading a helper");
    driver_check(d_.module_function(&dirty_, helper, "salient_dirty"), "loading a helper");
    driver_check(d_.module_function(&read_, helper, "salient_read"), "loading a helper");
    driver_check(d_.module_function(&copy_, helper, "salient_copy"), "loading a helper");
    clock_.emplace(helper);
    driver_check(d_.function_set(dirty_, kDynamicSharedBytes, shared_bytes_), "loading a helper");
    driver_check(d_.function_set(dirty_, kSharedCarveOut, kAllShared), "loading a helper");
    for (const Artifact& artifact : artifacts) {
      const std::string image = read_text_file(artifact.file);
      modules_.emplace_back();
      driver_check(d_.module_load(&modules_.back(), image.data()), "loading a kernel");
    }
  }

  void run(const RunOrder& order, Arena& arena) override {
    upload(arena, order.end);
    for (const Launch& launch : order.launches)  // as large a share as dirty_ used: another would move what it left
      driver_check(d_.function_set(function_of(order.artifact, launch), kSharedCarveOut, kAllShared), "shared memory");
    dirty_shared_memory(order.shuffle);
    launch_all(order);
    driver_check(d_.stream_wait(stream_), "running the kernel");
    download(arena, {0, order.end});
  }

  SampleTimes time(const TimingPlan& plan, std::size_t sample, Arena& arena) override {
    if (sample == 0) {
      upload(arena, arena.size());
      record_samples(plan);
    }
    if (std::exchange(was_idle_, false)) warm_up();
    restore(plan.samples[sample].before);
    return run_graph(graphs_[plan.samples[sample].orders], plan.reads_clock);
  }

  void fetch(Placement part, Arena& arena) override {
    download(arena, part);
    was_idle_ = true;  // while the host copies what came
  }

  double copy_rate(Arena& arena, std::size_t bytes, std::size_t set_bytes) override {
    const std::size_t all = std::min(bytes, arena.size());
    warm_up();
    double best = 0;  // by the driver's copy and by a kernel, whichever is faster
    for (const bool is_kernel : {false, true})
      for (const std::size_t bytes_of_set : {set_bytes, all})
        best = std::max(best, rate_of_copies(all, bytes_of_set, is_kernel));
    return best;
  }

  double joules(const TimingPlan& plan, std::size_t sample, double seconds) override {
    const CudaGraphExec graph = graphs_.at(plan.samples.at(sample).orders);
    return joules_of_run(device_, seconds, [&](int runs) {
      for (int i = 0; i < runs; ++i) driver_check(d_.graph_launch(graph, stream_), "measuring energy");
      driver_check(d_.stream_wait(stream_), "measuring energy");
    });
  }

  double flop_rate(const std::string& ceiling) override {
    const Arithmetic which = ceiling == "bf16_tensor"   ? Arithmetic::kBf16Tensor
                             : ceiling == "tf32_tensor" ? Arithmetic::kTf32Tensor
                                                        : Arithmetic::kF32;
    return measure_arithmetic(which, device_);
  }

 private:
  /// In the order of the stream: copies of the default stream would not wait for it, nor it for them.
  void upload(const Arena& arena, std::size_t bytes) {
    driver_check(d_.to_device(memory_, arena.data(), bytes, stream_), "copying to the GPU");
    driver_check(d_.stream_wait(stream_), "copying to the GPU");
  }
  void download(Arena& arena, Placement part) {
    driver_check(d_.to_host(arena.data() + part.offset, memory_ + part.offset, part.bytes, stream_),
                 "copying from the GPU");
    driver_check(d_.stream_wait(stream_), "copying from the GPU");
  }

  /// A CUDA graph of the launches of every sample.
  void record_samples(const TimingPlan& plan) {
    for (const TimedSample& sample : plan.samples) {
      if (graphs_.contains(sample.orders)) continue;
      launch_all(plan.orders[sample.orders.front()]);  // loads the code, which recording cannot do
      driver_check(d_.stream_wait(stream_), "running the kernel");
      graphs_[sample.orders] = capture(stream_, [&] {
        for (const std::size_t o : sample.orders) launch_all(plan.orders[o]);
      });
    }
  }

  /// Reads so much other memory that the cache holds nothing of the arena, and nothing that must be written back.
  void flush_cache() {
    launch_helper(read_, flushed_, flush_bytes_, flushed_ + flush_bytes_, static_cast<unsigned>(multiprocessors_) * 4,
                  stream_);
  }

  /// Work until the clocks have left their idle rates.
  void warm_up() {
    const auto end = Clock::now() + std::chrono::duration<double>(kWarmSeconds);
    while (Clock::now() < end) {
      for (int i = 0; i < 16; ++i) flush_cache();
      driver_check(d_.stream_wait(stream_), "warming up");
    }
  }

  SampleTimes run_graph(CudaGraphExec graph, bool reads_clock = false) {
    flush_cache();
    driver_check(d_.stream_wait(stream_), "preparing a run");
    if (reads_clock) clock_->read(stream_, 0);
    const auto begin = Clock::now();
    driver_check(d_.event_record(start_, stream_), "timing a run");
    driver_check(d_.graph_launch(graph, stream_), "timing a run");
    driver_check(d_.event_record(end_, stream_), "timing a run");
    if (reads_clock) clock_->read(stream_, 1);
    driver_check(d_.event_wait(end_), "running the kernel");
    const double wall = std::chrono::duration<double>(Clock::now() - begin).count();
    float milliseconds = 0;
    driver_check(d_.event_elapsed(&milliseconds, start_, end_), "timing a run");
    return {double{milliseconds} * 1e-3, wall, reads_clock ? clock_->rate(stream_) : 0};
  }

  void copy_once(CudaPointer to, CudaPointer from, std::size_t bytes, bool is_kernel) {
    if (!is_kernel) return driver_check(d_.copy(to, from, bytes, stream_), "copying on the GPU");
    launch_helper(copy_, from, bytes, to, static_cast<unsigned>(multiprocessors_) * 4, stream_);
  }

  double rate_of_copies(std::size_t bytes, std::size_t set_bytes, bool is_kernel) {
    const std::size_t half = std::max<std::size_t>(256, std::min(set_bytes, bytes) / 512 * 256);
    const std::size_t sets = std::max<std::size_t>(1, bytes / (2 * half));
    if (2 * half > bytes) return 0;
    const CudaGraphExec graph = capture(stream_, [&] {
      for (std::size_t s = 0; s < sets; ++s)
        copy_once(memory_ + (2 * s + 1) * half, memory_ + 2 * s * half, half, is_kernel);
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
        driver_check(d_.fill(memory_ + one.to, std::to_integer<unsigned char>(kDirt[0].poison), one.bytes, stream_),
                     "poisoning outputs");
    }
  }

  void dirty_shared_memory(std::uint64_t shuffle) {
    auto bytes = static_cast<unsigned>(shared_bytes_);
    unsigned value = std::to_integer<unsigned>(kDirt[shuffle % 2].poison) * 0x01010101U;
    void* parameters[] = {&bytes, &value};
    driver_check(d_.launch(dirty_, static_cast<unsigned>(multiprocessors_) * 2, 1, 1, 1024, 1, 1, bytes, stream_,
                           parameters, nullptr),
                 "dirtying shared memory");
  }

  CudaFunction function_of(std::size_t artifact, const Launch& launch) {
    CudaFunction& function = functions_[{artifact, launch.kernel}];
    if (function == nullptr)
      driver_check(d_.module_function(&function, modules_[artifact], launch.kernel.c_str()), "finding a kernel");
    if (launch.smem > 0)  // also below 48 KiB: the kernel's own arrays count too
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
    for (const Launch& launch : artifacts_[order.artifact].completed(order.launches))
      driver_check(
          d_.launch(function_of(order.artifact, launch), u(launch.grid[0]), u(launch.grid[1]), u(launch.grid[2]),
                    u(launch.block[0]), u(launch.block[1]), 1, u(launch.smem), stream_, parameters.data(), nullptr),
          "launching the kernel");
  }

  const CudaDriver& d_;  // memory, streams and modules go with the process
  CudaStreamHandle stream_ = nullptr;
  CudaEventHandle start_ = nullptr, end_ = nullptr;
  CudaPointer memory_ = 0, flushed_ = 0;
  std::size_t flush_bytes_ = 0;
  bool was_idle_ = true;
  CudaFunction dirty_ = nullptr, read_ = nullptr, copy_ = nullptr;
  std::optional<DeviceClock> clock_{};
  int device_ = 0, shared_bytes_ = 0, multiprocessors_ = 0;
  std::vector<Artifact> artifacts_{};
  std::vector<CudaModule> modules_{};
  std::map<std::pair<std::size_t, std::string>, CudaFunction> functions_{};
  std::map<std::vector<std::size_t>, CudaGraphExec> graphs_{};  // by the orders of a sample, of the plan that is timed
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
  facts.counts_energy = EnergyMeter::find(device).has_value();
  return facts;
}

}  // namespace salient::workbench
