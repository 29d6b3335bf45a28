// workbench/promotion/run_in_process.cpp - a candidate on the GPU without the referee's workers; see sanitize.h.
#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/backend/backend.h"
#include "workbench/backend/cuda_driver.h"
#include "workbench/case/problem.h"
#include "workbench/promotion/sanitize.h"
#include "workbench/referee/orders.h"
#include "workbench/referee/referee.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kMaxWatchedBytes = std::size_t{16} << 20;  // sanitizers slow kernels down a hundred times
constexpr int kDynamicSharedBytes = 8;                           // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

/// Device memory of one run.
class Memory {
 public:
  explicit Memory(std::size_t bytes) {
    driver_check(cuda_driver().allocate(&address_, bytes > 0 ? bytes : 1), "taking memory");
  }
  ~Memory() { (void)cuda_driver().release(address_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  CudaPointer address() const { return address_; }

 private:
  CudaPointer address_ = 0;
};

/// The problems that a check runs, of every kind and small.
std::vector<ProblemSpec> small_problems(const Case& given, std::uint64_t seed) {
  std::vector<ProblemSpec> small, all = problems_of(given, BackendKind::kCuda, {}, seed);
  std::ranges::move(swept_problems(given, BackendKind::kCuda, seed), std::back_inserter(all));
  for (ProblemSpec& spec : all) {
    std::size_t bytes = 0;
    for (const BufferSpec& buffer : given.buffers)
      bytes += static_cast<std::size_t>(evaluate(buffer.count, spec.dims)) * bytes_of(buffer.type);
    if (bytes <= kMaxWatchedBytes) small.push_back(std::move(spec));
  }
  return small;
}

std::vector<ProblemSpec> public_problems(const Case& given, std::uint64_t seed) {
  std::vector<ProblemSpec> problems;
  for (const Variables& dims : public_shapes(given, BackendKind::kCuda))
    problems.push_back({ShapeSet::kPublic, dims, {}, mix(seed + problems.size()) >> 1});
  return problems;
}

class Runner {
 public:
  explicit Runner(const std::filesystem::path& binary) : d_(cuda_driver()) {
    int device = 0;
    CudaContext context = nullptr;
    if (d_.init(0) != kCudaSuccess || d_.device_get(&device, 0) != kCudaSuccess)
      fail(ErrorKind::kNoDevice, "there is no GPU");
    driver_check(d_.context_retain(&context, device), "making a context");
    driver_check(d_.context_set(context), "making a context");
    driver_check(d_.stream_create(&stream_, 0), "making a stream");
    driver_check(d_.device_attribute(&sm_, static_cast<int>(CudaAttribute::kMultiprocessors), device),
                 "asking the GPU");
    artifact_ = read_artifact(binary);
    const std::string image = read_text_file(binary);
    driver_check(d_.module_load(&module_, image.data()), "loading a kernel");
  }

  void run(const Candidate& candidate, const Problem& problem) {
    const ProblemSize size{problem.definition(), problem.spec().dims};
    std::vector<std::unique_ptr<Memory>> buffers;
    Layout layout;  // whose offsets are addresses
    for (const std::size_t bytes : buffer_bytes(size, candidate, sm_)) {
      const std::size_t b = buffers.size();
      buffers.push_back(std::make_unique<Memory>(bytes));
      layout.buffers.push_back({buffers[b]->address(), bytes});
      if (b < problem.num_buffers() && !problem.data(b).empty())
        driver_check(d_.to_device(buffers[b]->address(), problem.data(b).data(), bytes, stream_), "copying");
    }
    RunOrder order = make_order(size, candidate, layout, 0, sm_);
    std::vector<void*> parameters;
    for (Argument& argument : order.arguments) parameters.push_back(&argument.value);
    for (const Launch& launch : artifact_.completed(order.launches)) start(launch, parameters);
    driver_check(d_.stream_wait(stream_), "running the kernel");
  }

 private:
  void start(const Launch& launch, std::vector<void*>& parameters) {
    CudaFunction function = nullptr;
    const auto u = [](std::int64_t value) { return static_cast<unsigned>(value); };
    driver_check(d_.module_function(&function, module_, launch.kernel.c_str()), "finding a kernel");
    if (launch.smem > 0)
      driver_check(d_.function_set(function, kDynamicSharedBytes, static_cast<int>(launch.smem)), "shared memory");
    driver_check(d_.launch(function, u(launch.grid[0]), u(launch.grid[1]), u(launch.grid[2]), u(launch.block[0]),
                           u(launch.block[1]), 1, u(launch.smem), stream_, parameters.data(), nullptr),
                 "launching the kernel");
  }

  const CudaDriver& d_;
  CudaStreamHandle stream_ = nullptr;
  CudaModule module_ = nullptr;
  Artifact artifact_{};
  int sm_ = 1;
};

}  // namespace

std::size_t run_in_this_process(const Candidate& candidate, const Case& given, const std::filesystem::path& binary,
                                WhichProblems which, std::uint64_t seed) {
  Runner runner(binary);
  std::size_t runs = 0;
  const std::uint64_t drawn = seed != 0 ? seed : seed_from_system();
  for (const ProblemSpec& spec :
       which == WhichProblems::kPublic ? public_problems(given, drawn) : small_problems(given, drawn)) {
    runner.run(candidate, Problem(given, spec));
    ++runs;
  }
  return runs;
}

}  // namespace salient::workbench
