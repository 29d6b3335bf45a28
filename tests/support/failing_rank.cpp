// tests/support/failing_rank.cpp - a program whose ranks exchange sums until one of them fails in the way that is asked
// for; tests/engine/comm/rank_failures.py looks at how it ends. "gpu" as third argument: sums on GPUs, by NCCL.
#include <csignal>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "engine/comm/agreement.h"
#include "engine/comm/make_communicator.h"
#if SALIENT_HAS_CUDA
#include "core/cuda/cuda.h"
#endif

namespace salient {
namespace {

void fail_as(const std::string& how) {
  if (how == "throw") fail(ErrorKind::kBadData, "part 7: checksum differs");
  if (how == "memory") throw std::bad_alloc();
  if (how == "exit") std::_Exit(0);  // as a library's exit() would
  if (how == "kill") (void)raise(SIGKILL);
  if (how == "stop" || how == "flood") (void)raise(SIGSTOP);
  if (how == "crash") (void)raise(SIGSEGV);
}

/// What the ranks sum up, in host memory.
struct HostData {
  std::vector<float> data = std::vector<float>(100000);
  std::span<float> get() { return data; }
  CUstream_st* stream() { return nullptr; }
  void wait() {}
  void flood() {}
};

#if SALIENT_HAS_CUDA
struct GpuData {
  DeviceArray<float> data = make_device_array<float>(100000);
  CudaStream own_stream{};
  std::span<float> get() { return {data.get(), 100000}; }
  CUstream_st* stream() { return own_stream.get(); }
  void wait() { own_stream.wait(); }
  /// More than the queue of a GPU takes: behind an exchange that does not end, launches block.
  void flood() {
    for (int i = 0; i < 5000; ++i) cuda_check(cudaMemsetAsync(data.get(), 0, 4, own_stream.get()));
  }
};
#endif

template <class Data>
void take_steps(Communicator& comm, const std::string& how, bool is_failing) {
  Data data;
  for (int step = 0; step < 200; ++step) {
    const bool is_time = step == 100 && is_failing;
    if (is_time) fail_as(how);
    if (step == 100 && how == "together")
      together(comm, [&] {
        if (is_time) fail(ErrorKind::kIo, "checkpoints/epoch-0001: disk full");
      });
    if (is_time && how == "mismatch") comm.barrier();
    (void)comm.exchange_flags(0);
    comm.all_reduce_sum(data.get(), data.stream());
    if (step >= 100 && how == "flood") data.flood();
    if (step % 10 == 9) data.wait();
  }
}

int run(const Launch& launch, const std::string& how, int failing_rank, bool is_on_gpu) {
#if SALIENT_HAS_CUDA
  if (is_on_gpu) {
    int num_gpus = 0;
    if (cudaGetDeviceCount(&num_gpus) != cudaSuccess || num_gpus < launch.ranks_on_host) return 77;
    cuda_check(cudaSetDevice(launch.local_rank));
  }
#else
  if (is_on_gpu) return 77;
#endif
  const bool is_failing = launch.rank == failing_rank;
  const auto comm = make_communicator({.timeout_seconds = is_on_gpu ? 8.0 : 3.0, .is_data_on_gpu = is_on_gpu}, launch);
  require_equal_on_all_ranks(*comm, "the configuration", how == "differ" && is_failing ? "b" : "a");
  try {
#if SALIENT_HAS_CUDA
    if (is_on_gpu) return take_steps<GpuData>(*comm, how, is_failing), 0;
#endif
    return take_steps<HostData>(*comm, how, is_failing), 0;
  } catch (...) {
    comm->cancel();
    throw;
  }
}

}  // namespace
}  // namespace salient

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "nothing";
  const int failing_rank = argc > 2 ? std::atoi(argv[2]) : 1;
  return salient::run_ranks("failing_rank", nullptr, [&](const salient::Launch& launch) {
    return salient::run(launch, how, failing_rank, argc > 3 && std::string_view(argv[3]) == "gpu");
  });
}
