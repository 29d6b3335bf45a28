// apps/doctor/ceilings.cpp - see ceilings.h.
#include "apps/doctor/ceilings.h"

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/host/huge_vector.h"
#include "core/host/timed_threads.h"
#include "core/philox.h"
#include "core/timer.h"
#include "engine/device/gpu_probe.h"
#include "loaders/gather_rows.h"

namespace salient::doctor {
namespace {

constexpr int kRounds = 3;  // of which the best counts: other programs disturb the others

/// Fused multiply-adds on registers: what no matrix product exceeds.
double operations_once(int cores) {
  constexpr int kSteps = 1 << 24, kLanes = 8, kChains = 10;
  const ThreadTimes times = time_on_threads(cores, [](int t) {
    const __m256 factor = _mm256_set1_ps(0.5F + 0.1F * static_cast<float>(t));
    __m256 sums[kChains];
    for (auto& sum : sums) sum = factor;
    for (int i = 0; i < kSteps; ++i)
      for (auto& sum : sums) sum = _mm256_fmadd_ps(sum, factor, factor);
    for (const auto& sum : sums) asm volatile("" : : "x"(sum));
  });
  return 2.0 * kLanes * kChains * kSteps * cores / times.wall_seconds;
}

}  // namespace

double random_read_rate(std::span<const NodeId> entries, int cores) {
  double best = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round)
    best = std::max(best, random_reads_per_core_second(entries, cores, round) * cores);
  return best;
}

double random_row_rate(RowTable table, int cores) {
  constexpr std::size_t kMostBytes = std::size_t{32} << 20;
  const std::size_t rows = std::max<std::size_t>(1, kMostBytes / std::max<std::size_t>(1, table.row_bytes));
  struct Worker {
    std::vector<NodeId> row_of;
    HugeVector<std::byte> out;
  };
  std::vector<Worker> workers(static_cast<std::size_t>(cores));
  (void)time_on_threads(cores, [&](int t) {
    Worker& worker = workers[static_cast<std::size_t>(t)];
    worker.out = HugeVector<std::byte>(rows * table.row_bytes);
    for (std::uint32_t i = 0; i < rows; ++i) {
      const std::uint64_t word = philox4x32({}, {{i, static_cast<std::uint32_t>(t), 0, 0}}).word[0];
      worker.row_of.push_back(static_cast<NodeId>((word * table.num_rows) >> 32));
    }
  });
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const ThreadTimes times = time_on_threads(cores, [&](int t) {
      Worker& worker = workers[static_cast<std::size_t>(t)];
      gather_rows(table, worker.row_of.data(), rows, worker.out.data());
    });
    best = std::max(best, static_cast<double>(rows * table.row_bytes) * cores / times.wall_seconds);
  }
  return best;
}

Ceilings measure_ceilings(int cores, bool is_gpu_there) {
  constexpr std::size_t kBytes = std::size_t{256} << 20, kRowBytes = 256;
  Ceilings ceilings{.cores = cores, .copied_bytes = memory_copy_rate(cores)};
  {
    const HugeVector<std::byte> rows(kBytes, std::byte{1});
    ceilings.random_row_bytes = random_row_rate({rows.data(), kBytes / kRowBytes, kRowBytes}, cores);
  }
  {
    const HugeVector<NodeId> entries(kBytes / sizeof(NodeId), NodeId{1});
    ceilings.random_reads = random_read_rate(entries, cores);
  }
  for (int round = 0; round < kRounds; ++round)
    ceilings.operations = std::max(ceilings.operations, operations_once(cores));
  if (is_gpu_there) ceilings.pinned_bytes = pinned_copy_rate();
  return ceilings;
}

double all_reduce_rate(Communicator& comm) {
  constexpr int kCalls = 5;
  std::vector<float> values(std::size_t{4} << 20, 0.0F);
  std::vector<double> rates;
  for (int round = 0; round <= kCalls; ++round) {
    comm.barrier();
    const Timer timer;
    comm.all_reduce_sum(std::span<float>(values), nullptr);
    if (round > 0) rates.push_back(static_cast<double>(values.size() * sizeof(float)) / timer.seconds());
  }
  return spread_of(std::move(rates)).median;
}

}  // namespace salient::doctor
