// benchmarks/bench_exchange.cpp - see bench_exchange.h.
#include "benchmarks/bench_exchange.h"

#include <ATen/ops/full.h>

#include <span>
#include <vector>

#include "core/error.h"
#include "core/host/timed_threads.h"
#include "core/timer.h"
#include "engine/comm/mpi_communicator.h"
#include "engine/comm/nccl_communicator.h"

namespace salient {
namespace {

constexpr int kRounds = 7, kCalls = 20;

/// Seconds per call, by the host's clock around many calls and one wait.
template <class Call>
double seconds_of(Communicator& comm, const ComputeDevice& device, Call&& call) {
  comm.barrier();
  const Timer timer;
  for (int i = 0; i < kCalls; ++i) call();
  device.wait();
  return timer.seconds() / kCalls;
}

double median_of(std::vector<double> values) { return spread_of(std::move(values)).median; }

}  // namespace

ExchangeTimes time_exchange(Communicator& comm, const Launch& launch, const ComputeDevice& device, std::size_t count) {
  const bool is_nccl = comm.name() == "nccl";
  const auto place = at::TensorOptions(at::kFloat).device(device.torch_device());
  at::Tensor ours = at::full({static_cast<std::int64_t>(count)}, 1.0, place);
  at::Tensor theirs = is_nccl ? ours.clone() : ours.cpu().clone();  // MPI sums in host memory
  const auto span_of = [count](at::Tensor& tensor) { return std::span<float>(tensor.data_ptr<float>(), count); };
  const BareAllReduce bare = is_nccl ? make_bare_nccl_all_reduce(comm) : make_bare_mpi_all_reduce(launch);

  const auto call = [&] { comm.all_reduce_sum(span_of(ours), device.stream()); };
  const auto bare_call = [&] { bare(span_of(theirs), device.stream()); };
  call();
  bare_call();
  device.wait();
  const auto is_sum = [&](const at::Tensor& tensor) { return tensor.eq(comm.size()).all().item<bool>(); };
  require(is_sum(ours) && is_sum(theirs), "an all-reduce of ones gives the number of ranks");

  ours.zero_();
  theirs.zero_();
  std::vector<double> seconds, bare_seconds;
  for (int round = 0; round < kRounds; ++round) {
    seconds.push_back(seconds_of(comm, device, call));
    bare_seconds.push_back(seconds_of(comm, device, bare_call));
  }
  return {.seconds = median_of(std::move(seconds)), .bare_seconds = median_of(std::move(bare_seconds))};
}

}  // namespace salient
