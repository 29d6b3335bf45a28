// workbench/backend/backend.h - where candidates are compiled and run: on this host by g++, or on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "workbench/backend/device_turn.h"
#include "workbench/referee/arena.h"
#include "workbench/referee/candidate.h"
#include "workbench/referee/verdict.h"
#include "workbench/referee/worker.h"

namespace salient::workbench {

/// What `Backend::compile` makes.
struct Artifact {
  std::filesystem::path file{};
  std::string notes{};                            ///< registers and spills, as the compiler says
  std::map<std::string, std::int64_t> shared{};   ///< by kernel: bytes that its compiler wants besides a launch's own
  std::map<std::string, std::int64_t> threads{};  ///< by kernel: of a block, where its compiler chose them

  /// Launches with what the compiler chose.
  std::vector<Launch> completed(std::vector<Launch> launches) const {
    for (Launch& launch : launches) {
      if (const auto found = shared.find(launch.kernel); found != shared.end()) launch.smem += found->second;
      if (const auto found = threads.find(launch.kernel); found != threads.end()) launch.block = {found->second, 1};
    }
    return launches;
  }
};

/// A cubin of the back end `cuda`, with what lies beside it.
Artifact read_artifact(const std::filesystem::path& cubin);

/// A parameter of a kernel: an offset into the arena, or a number.
struct Argument {
  bool is_offset = false;
  std::int64_t value = 0;
};

/// A candidate on one problem.
struct RunOrder {
  std::size_t artifact = 0;
  std::vector<Launch> launches{};
  std::vector<Argument> arguments{};
  std::size_t end = 0;        ///< of the arena's part that takes part
  std::uint64_t shuffle = 0;  ///< decides the order of blocks, where the back end chooses it
};

/// What happens before a timed sample, outside of the clock: `bytes` at `to` come from `from`, or become poison.
struct Restore {
  std::size_t to = 0, bytes = 0;
  std::optional<std::size_t> from{};
};

/// Runs between two readings of the clock. All of one candidate, each on another input set.
struct TimedSample {
  std::vector<std::size_t> orders{};    ///< into TimingPlan::orders
  std::vector<std::uint64_t> inputs{};  ///< per order: what its inputs are made from
  std::vector<Restore> before{};
};

struct TimingPlan {
  std::vector<RunOrder> orders{};
  std::vector<TimedSample> samples{};
  bool reads_clock = false;  ///< samples say the clock rate, too
};

/// Measured by the worker itself.
struct SampleTimes {
  double seconds = 0;  ///< by the device's clock, of the whole sample
  double wall = 0;     ///< by the host's
  double clock = 0;    ///< of the multiprocessors meanwhile, in hertz; 0 = not asked for, or not known
};

/// Lives in a worker process.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Runs on the arena, in place. @throws Error{kBadData} for launches that cannot be, Error{kInternal} for device
  /// errors
  virtual void run(const RunOrder& order, Arena& arena) = 0;
  /// One sample of a plan. Sample 0 comes first, and finds the arena's inputs; a device keeps copies from then on.
  virtual SampleTimes time(const TimingPlan& plan, std::size_t sample, Arena& arena) = 0;
  /// Brings a part of memory as it is now into the arena, where a device has memory of its own.
  virtual void fetch(Placement part, Arena& arena) = 0;
  /// Bytes read and written per second by a plain copy, at its best: of `set_bytes` per run, half to half, on the input
  /// sets that fill the arena's first `bytes`, with the target poisoned before as outputs are.
  virtual double copy_rate(Arena& arena, std::size_t bytes, std::size_t set_bytes) = 0;
  /// Operations per second of a case's ceiling (f32, tf32_tensor, bf16_tensor), measured now.
  virtual double flop_rate(const std::string& ceiling) = 0;
  /// Joules of a sample, on average over as many as take about `seconds`; 0 where nothing measures them.
  virtual double joules(const TimingPlan& /*plan*/, std::size_t /*sample*/, double /*seconds*/) { return 0; }
};

/// What the floor of a time is computed from, and what `launch` expressions may use.
struct Machine {
  std::string name{};
  std::int64_t sm = 1;          ///< multiprocessors; of a host, 1: blocks run one after the other
  std::size_t cache_bytes = 0;  ///< of the last level that matters
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual BackendKind kind() const = 0;
  /// @throws Error{kNoDevice}
  virtual Machine machine() = 0;
  virtual bool counts_energy() { return false; }  ///< whether Executor::joules gives a number
  /// Static gate and compiler. @throws Error for what is no fault of the candidate: no compiler, no space
  virtual std::variant<Artifact, Finding> compile(const Candidate& candidate, const Case& given) = 0;
  virtual std::unique_ptr<Executor> make_executor(const std::vector<Artifact>& artifacts, std::size_t arena_bytes) = 0;
  /// What a hardware profiler says of a correct candidate on the public shapes, for prompts; empty without one.
  virtual std::string profile(const Candidate&, const Case&, const Artifact&) { return {}; }
  virtual WorkerLimits limits() const = 0;
  /// To be held while a worker runs; null where runs do not disturb each other.
  virtual std::unique_ptr<DeviceTurn> turn(DeviceTurn::Kind) { return nullptr; }
  virtual std::map<std::string, std::string> environment() = 0;  ///< compiler, flags, device, driver
};

/// @param kernels  folder of workbench_kernel.h   @param work  an existing folder for compiled files
std::unique_ptr<Backend> make_host_backend(const std::filesystem::path& kernels, const std::filesystem::path& work);
struct CudaCompiler {
  std::string nvcc = "nvcc";                      ///< program
  std::string python = "python3";                 ///< with the packages of languages in Python
  std::filesystem::path lowering{};               ///< folder of lower_triton.py and the like
  std::filesystem::path lowered{};                ///< folder with what they made elsewhere; empty = there is none
  bool keeps_lowered = false;                     ///< what they make here is added to it
  std::string disassembler = "nvdisasm";          ///< program, for languages that give no PTX
  std::vector<std::filesystem::path> includes{};  ///< folders for -I, such as CuTe's headers
  std::string architecture{};                     ///< sm_90a and the like; empty = of the first GPU, which is asked
  /// The command that runs `binary` on the public shapes of a case, for a profiler; empty = there are no profiles.
  std::function<std::vector<std::string>(const std::string& of_case, const std::filesystem::path& source,
                                         const std::filesystem::path& binary)>
      runner{};
};
std::unique_ptr<Backend> make_cuda_backend(const CudaCompiler& compiler, const std::filesystem::path& work);

}  // namespace salient::workbench
