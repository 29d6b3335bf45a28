// workbench/backend/host_executor.cpp - see host_executor.h.
#include "workbench/backend/host_executor.h"

#include <dlfcn.h>
#include <immintrin.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include "core/error.h"
#include "core/host/machine.h"
#include "workbench/case/problem.h"

namespace salient::workbench {
namespace {

constexpr int kCopyLaps = 6;

/// CPU time of this thread, in seconds: on a busy host the time of day would include waiting for a core.
double cpu_seconds() {
  timespec now{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
double seconds_since(double start) { return cpu_seconds() - start; }

/// As in cases/kernels/workbench_kernel.h, which candidates are compiled with.
struct Block {
  long long x, y, z;
  long long grid_x, grid_y, grid_z;
  long long block_x, block_y;
  void* shared;
};
using Entry = void (*)(const Block*, void* const*);

struct Unload {
  void operator()(void* library) const noexcept { (void)dlclose(library); }
};

/// Operations per second of f32 multiply-add on this core, in 1 ms.
double measure_flops() {
  constexpr int kChains = 12, kSteps = 20000;  // enough independent additions to fill two units of latency 4
  double best = 0;
  for (int sample = 0; sample < 8; ++sample) {
    __m256 chain[kChains];
    for (__m256& value : chain) value = _mm256_set1_ps(1.0F);
    const __m256 factor = _mm256_set1_ps(0.999999F);
    const double start = cpu_seconds();
    for (int step = 0; step < kSteps; ++step)
      for (__m256& value : chain) value = _mm256_fmadd_ps(value, factor, factor);
    const double seconds = seconds_since(start);
    float sink = 0;
    for (const __m256& value : chain) sink += _mm256_cvtss_f32(value);
    volatile float keep = sink;
    (void)keep;
    best = std::max(best, 16.0 * kChains * kSteps / seconds);
  }
  return best;
}

class HostExecutor final : public Executor {
 public:
  explicit HostExecutor(const std::vector<Artifact>& artifacts) {
    for (const Artifact& artifact : artifacts) {
      libraries_.emplace_back(dlopen(artifact.file.c_str(), RTLD_NOW | RTLD_LOCAL));
      if (libraries_.back() == nullptr) fail(ErrorKind::kInternal, std::string("cannot load a kernel: ") + dlerror());
    }
  }

  void run(const RunOrder& order, Arena& arena) override {
    Ready ready = prepare(order, arena);
    for (auto& [entry, launch] : ready.launches) launch_blocks(entry, *launch, ready, order.shuffle);
  }

  /// By a clock that the candidate could reach: the referee takes its own, see referee/process_clock.h.
  SampleTimes time(const TimingPlan& plan, std::size_t i, Arena& arena) override {
    const TimedSample& sample = plan.samples[i];
    restore(sample.before, arena);
    double seconds = 0;
    for (const std::size_t o : sample.orders) {
      Ready ready = prepare(plan.orders[o], arena);
      const double start = cpu_seconds();
      for (auto& [entry, launch] : ready.launches) launch_in_order(entry, *launch, ready);
      seconds += seconds_since(start);
    }
    return {seconds, seconds};
  }

  void fetch(Placement, Arena&) override {}  // the arena is the memory

  double copy_rate(Arena& arena, std::size_t bytes, std::size_t set_bytes) override {
    const std::size_t half = std::max<std::size_t>(64, std::min(set_bytes, bytes) / 2);
    double best = 1e9;
    for (int lap = 0; lap < kCopyLaps; ++lap)
      for (std::size_t at = 0; at + 2 * half <= std::min(bytes, arena.size()); at += 2 * half) {
        arena.fill(at + half, at + 2 * half, kDirt[0].poison);
        const double start = cpu_seconds();
        std::memcpy(arena.data() + at + half, arena.data() + at, half);
        best = std::min(best, seconds_since(start));
      }
    return 2.0 * static_cast<double>(half) / std::max(best, 1e-9);
  }

  double flop_rate(const std::string&) override { return measure_flops(); }  // without tensor cores: f32

 private:
  static void restore(const std::vector<Restore>& list, Arena& arena) {
    for (const Restore& one : list)
      if (one.from)
        std::memcpy(arena.data() + one.to, arena.data() + *one.from, one.bytes);
      else
        arena.fill(one.to, one.to + one.bytes, kDirt[0].poison);
  }

  struct Ready {
    std::vector<void*> arguments{};  ///< addresses of buffers, and of the numbers below
    std::vector<long long> numbers{};
    std::vector<std::pair<Entry, const Launch*>> launches{};
    std::vector<std::byte> shared{};
  };

  Ready prepare(const RunOrder& order, Arena& arena) {
    Ready ready;
    ready.numbers.reserve(order.arguments.size());
    for (const Argument& argument : order.arguments) {
      if (argument.is_offset) {
        ready.arguments.push_back(arena.data() + argument.value);
      } else {
        ready.numbers.push_back(argument.value);
        ready.arguments.push_back(&ready.numbers.back());
      }
    }
    std::int64_t smem = 0;
    for (const Launch& launch : order.launches) {
      void* const found = dlsym(libraries_[order.artifact].get(), ("salient_call_" + launch.kernel).c_str());
      if (found == nullptr) fail(ErrorKind::kInternal, "a kernel's entry is gone");
      ready.launches.emplace_back(reinterpret_cast<Entry>(found), &launch);
      smem = std::max(smem, launch.smem);
    }
    ready.shared.assign(static_cast<std::size_t>(smem), kDirt[0].poison);
    return ready;
  }

  static void launch_one(Entry entry, const Launch& launch, Ready& ready, std::int64_t index) {
    const Block block{index % launch.grid[0],
                      index / launch.grid[0] % launch.grid[1],
                      index / (launch.grid[0] * launch.grid[1]),
                      launch.grid[0],
                      launch.grid[1],
                      launch.grid[2],
                      launch.block[0],
                      launch.block[1],
                      ready.shared.data()};
    entry(&block, ready.arguments.data());
  }

  static void launch_in_order(Entry entry, const Launch& launch, Ready& ready) {
    const std::int64_t blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
    for (std::int64_t i = 0; i < blocks; ++i) launch_one(entry, launch, ready, i);
  }

  /// Every block once, in the order i -> (start + i * step) mod blocks with a step that shares no factor with their
  /// number.
  static void launch_blocks(Entry entry, const Launch& launch, Ready& ready, std::uint64_t shuffle) {
    const auto blocks = static_cast<std::uint64_t>(launch.grid[0] * launch.grid[1] * launch.grid[2]);
    std::uint64_t step = mix(shuffle) % blocks | 1;
    const auto gcd = [](std::uint64_t a, std::uint64_t b) {
      while (b != 0) a = std::exchange(b, a % b);
      return a;
    };
    while (gcd(step, blocks) != 1) ++step;
    std::uint64_t at = mix(shuffle + 1) % blocks;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      std::fill(ready.shared.begin(), ready.shared.end(), kDirt[shuffle % 2].poison);
      launch_one(entry, launch, ready, static_cast<std::int64_t>(at));
      at = (at + step) % blocks;
    }
  }

  std::vector<std::unique_ptr<void, Unload>> libraries_;
};

}  // namespace

std::unique_ptr<Executor> make_host_executor(const std::vector<Artifact>& artifacts) {
  return std::make_unique<HostExecutor>(artifacts);
}

Machine measure_host() {
  Machine machine{.name = cpu_model()};
  const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  machine.cache_bytes = cache > 0 ? static_cast<std::size_t>(cache) : std::size_t{1} << 20;
  return machine;
}

}  // namespace salient::workbench
