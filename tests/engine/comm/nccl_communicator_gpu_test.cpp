// tests/engine/comm/nccl_communicator_gpu_test.cpp - the device back end against closed forms and against NCCL by
// itself. Each rank
// takes one GPU; skipped with fewer GPUs than ranks.
#include "engine/comm/nccl_communicator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/cuda/cuda.h"
#include "engine/comm/make_communicator.h"
#include "engine/comm/mpi_communicator.h"
#include "engine/comm/staged_communicator.h"
#include "tests/support/ranks.h"

namespace salient {
namespace {

int num_gpus() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

DeviceArray<float> on_device(const std::vector<float>& host, cudaStream_t stream) {
  auto device = make_device_array<float>(std::max<std::size_t>(1, host.size()));
  cuda_check(cudaMemcpyAsync(device.get(), host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice, stream));
  return device;
}

std::vector<float> on_host(const float* device, std::size_t size, cudaStream_t stream) {
  std::vector<float> host(size);
  cuda_check(cudaMemcpyAsync(host.data(), device, size * sizeof(float), cudaMemcpyDeviceToHost, stream));
  cuda_check(cudaStreamSynchronize(stream));
  return host;
}

std::vector<float> ramp(std::size_t size, float factor) {
  std::vector<float> data(size);
  for (std::size_t i = 0; i < size; ++i) data[i] = factor * static_cast<float>(i % 1000);
  return data;
}

class NcclCommunicatorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (num_gpus() < launch_of_test().ranks_on_host) GTEST_SKIP() << "fewer GPUs than ranks";
    cuda_check(cudaSetDevice(launch_of_test().local_rank));
    stream = std::make_unique<CudaStream>();
    control = make_mpi_communicator(launch_of_test(), 30);
    comm = make_nccl_communicator(make_mpi_communicator(launch_of_test(), 30), 30);
  }
  float sum_of_ranks() const { return static_cast<float>(comm->size() * (comm->size() + 1) / 2); }  // of rank + 1

  std::unique_ptr<CudaStream> stream;
  std::unique_ptr<Communicator> control, comm;
};

TEST_F(NcclCommunicatorTest, SumsFloatsOfAnyLengthInStreamOrder) {
  bool is_right = true;
  for (const std::size_t size : {1u, 2u, 3u, 1000u, 65537u, 285000u, 5000001u}) {
    const auto data = on_device(ramp(size, static_cast<float>(comm->rank() + 1)), stream->get());
    comm->all_reduce_sum({data.get(), size}, stream->get());
    is_right = is_right && on_host(data.get(), size, stream->get()) == ramp(size, sum_of_ranks());
  }
  EXPECT_TRUE(on_all_ranks(*control, is_right));
}

TEST_F(NcclCommunicatorTest, BroadcastsRankZeros) {
  const auto data = on_device(ramp(70001, static_cast<float>(comm->rank() + 7)), stream->get());
  comm->broadcast({data.get(), 70001}, stream->get());
  EXPECT_TRUE(on_all_ranks(*control, on_host(data.get(), 70001, stream->get()) == ramp(70001, 7)));
}

TEST_F(NcclCommunicatorTest, AgreesWithTheHostBackEnd) {
  const auto staged = make_staged_communicator(make_mpi_communicator(launch_of_test(), 30));
  std::vector<float> mine = ramp(100003, 0.37F * static_cast<float>(comm->rank() + 1));
  const auto by_nccl = on_device(mine, stream->get()), by_host = on_device(mine, stream->get());
  comm->all_reduce_sum({by_nccl.get(), mine.size()}, stream->get());
  staged->all_reduce_sum({by_host.get(), mine.size()}, stream->get());
  const auto a = on_host(by_nccl.get(), mine.size(), stream->get()),
             b = on_host(by_host.get(), mine.size(), stream->get());
  bool is_close = true;
  for (std::size_t i = 0; i < a.size(); ++i) is_close = is_close && std::abs(a[i] - b[i]) <= 1e-6F * std::abs(b[i]);
  EXPECT_TRUE(on_all_ranks(*control, is_close));
}

TEST_F(NcclCommunicatorTest, CarriesItsControlPlane) {
  std::vector<double> values{1, static_cast<double>(comm->rank())};
  comm->all_reduce_sum(std::span<double>(values));
  const double n = comm->size();
  EXPECT_TRUE(on_all_ranks(*control, values == std::vector<double>{n, n * (n - 1) / 2}));
}

TEST_F(NcclCommunicatorTest, GivesMemoryThatEveryRankWrites) {
  const auto size = static_cast<std::size_t>(comm->size()), mine = static_cast<std::size_t>(comm->rank());
  const auto access = comm->peer_access(size * sizeof(float));
  int num_reached = 0;
  for (int gpu = 0; gpu < comm->size(); ++gpu) {
    int can = 1;
    if (gpu != launch_of_test().local_rank) cuda_check(cudaDeviceCanAccessPeer(&can, launch_of_test().local_rank, gpu));
    num_reached += can;
  }
  if (!on_all_ranks(*control, num_reached == comm->size())) GTEST_SKIP() << "these GPUs do not reach each other";
  ASSERT_TRUE(on_all_ranks(*control, access.has_value()));
  const auto own = [&] { return on_host(reinterpret_cast<const float*>(access->memory[mine]), size, stream->get()); };
  const std::vector<float> at_first = own();
  control->barrier();
  const auto value = on_device({static_cast<float>(mine + 1)}, stream->get());
  comm->watch(stream->get(), [&] {
    for (std::byte* const memory : access->memory)
      cuda_check(cudaMemcpyAsync(reinterpret_cast<float*>(memory) + mine, value.get(), sizeof(float), cudaMemcpyDefault,
                                 stream->get()));
  });
  stream->wait();
  control->barrier();
  const auto again = comm->peer_access(1);
  bool is_right = at_first == std::vector<float>(size, 0.0F) && again && again->memory.data() == access->memory.data();
  const std::vector<float> found = own();
  for (std::size_t rank = 0; rank < size; ++rank) is_right = is_right && found[rank] == static_cast<float>(rank + 1);
  EXPECT_TRUE(on_all_ranks(*control, is_right && *access->is_given_up == 0));
  comm->cancel();
  EXPECT_EQ(*access->is_given_up, 1);
}

TEST_F(NcclCommunicatorTest, LetsGoOfWorkThatNobodyAnswers) {
  const auto data = on_device(ramp(1000, 1), stream->get());
  if (comm->size() > 1 && comm->rank() == 0) {
    comm->all_reduce_sum({data.get(), 1000}, stream->get());  // the others never join
    comm->cancel();
    cuda_check(cudaStreamSynchronize(stream->get()));  // would hang
  }
  EXPECT_TRUE(on_all_ranks(*control, true));
}

TEST_F(NcclCommunicatorTest, NoticesWorkThatNobodyAnswersBehindAFullQueue) {
  const auto impatient = make_nccl_communicator(make_mpi_communicator(launch_of_test(), 5), 5);  // starts in 1-2 s
  const auto data = on_device(ramp(1000, 1), stream->get());
  bool is_noticed = true;
  if (comm->size() > 1 && comm->rank() == 0) {
    const auto start = std::chrono::steady_clock::now();
    is_noticed = false;
    try {
      impatient->all_reduce_sum({data.get(), 1000}, stream->get());  // the others never join
      for (int i = 0; i < 5000; ++i) cuda_check(cudaMemsetAsync(data.get(), 0, 4, stream->get()));  // blocks at ~1000
      cuda_check(cudaStreamSynchronize(stream->get()));
      impatient->all_reduce_sum({data.get(), 1000}, stream->get());
    } catch (const Error& error) {
      is_noticed = error.kind() == ErrorKind::kComm;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("noticed after %.1f s\n", seconds.count());
    is_noticed = is_noticed && seconds.count() < 15;
  }
  EXPECT_TRUE(on_all_ranks(*control, is_noticed));
  impatient->cancel();
}

TEST_F(NcclCommunicatorTest, EndsACallThatIsStuckInsideNccl) {
  const auto impatient = make_nccl_communicator(make_mpi_communicator(launch_of_test(), 5), 5);
  const auto data = on_device(ramp(1000, 1), stream->get());
  bool is_noticed = true;
  if (comm->size() > 1 && comm->rank() == 0) {
    is_noticed = false;
    try {
      for (int i = 0; i < 5000; ++i)
        impatient->all_reduce_sum({data.get(), 1000}, stream->get());  // blocks at ~1000, inside ncclAllReduce
    } catch (const Error& error) {
      is_noticed = error.kind() == ErrorKind::kComm;
    }
    cuda_check(cudaStreamSynchronize(stream->get()));
  }
  EXPECT_TRUE(on_all_ranks(*control, is_noticed));
  impatient->cancel();
}

TEST(NcclSharedGpuTest, TwoRanksOnOneGpuAreRefusedOnBoth) {
  if (num_gpus() < 1) GTEST_SKIP() << "no GPU";
  cuda_check(cudaSetDevice(0));
  const auto control = make_mpi_communicator(launch_of_test(), 30);
  int kind = 0;
  try {
    (void)make_nccl_communicator(make_mpi_communicator(launch_of_test(), 30), 30);
  } catch (const Error& error) {
    kind = static_cast<int>(error.kind());
  }
  EXPECT_TRUE(on_all_ranks(*control, kind == (launch_of_test().size > 1 ? 2 : 0)));
}

/// Milliseconds per call, by events, after a warm-up; the best of five rounds.
template <class Call>
double milliseconds_of(Call&& call, cudaStream_t stream) {
  double best = 1e9;
  for (int round = 0; round < 6; ++round) {
    CudaEvent begin(CudaEvent::Kind::kTiming), end(CudaEvent::Kind::kTiming);
    begin.record(stream);
    for (int i = 0; i < 50; ++i) call();
    end.record(stream);
    end.wait();
    if (round > 0) best = std::min(best, 1e3 * end.seconds_since(begin) / 50);
  }
  return best;
}

TEST_F(NcclCommunicatorTest, CostsNoMoreThanTwiceABareAllReduce) {
  const BareAllReduce bare = make_bare_nccl_all_reduce(*control);
  bool is_fast = true;
  for (const std::size_t size : {std::size_t{1}, std::size_t{285000}, std::size_t{16} << 20}) {
    const auto data = on_device(std::vector<float>(size), stream->get());
    const auto by_us = [&] { comm->all_reduce_sum({data.get(), size}, stream->get()); };
    const auto by_nccl = [&] { bare({data.get(), size}, stream->get()); };
    const double ms = milliseconds_of(by_us, stream->get()), bare_ms = milliseconds_of(by_nccl, stream->get());
    const double bus_bytes = 2.0 * (comm->size() - 1) / comm->size() * static_cast<double>(size * sizeof(float));
    if (comm->rank() == 0)
      std::printf("all-reduce of %9zu floats on %d GPUs: %7.1f us, bare NCCL %7.1f us, bus %6.1f GB/s\n", size,
                  comm->size(), 1e3 * ms, 1e3 * bare_ms, bus_bytes / ms * 1e-6);
    is_fast = is_fast && ms < 2 * bare_ms + 0.005;
  }
  EXPECT_TRUE(on_all_ranks(*control, is_fast));
}

}  // namespace
}  // namespace salient
