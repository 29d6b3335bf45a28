// core/host/timed_threads.cpp - see timed_threads.h.
#include "core/host/timed_threads.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <numeric>

#include "core/error.h"
#include "core/host/huge_vector.h"
#include "core/host/threads.h"
#include "core/philox.h"

namespace salient {
namespace {

double thread_cpu_seconds() {
  timespec time{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// For a result that is only computed to take its time.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace

ThreadTimes time_on_threads(int num_threads, const std::function<void(int)>& work) {
  using Clock = std::chrono::steady_clock;
  require(num_threads >= 1, "at least one thread");
  struct Times {
    Clock::time_point begin, end;
    double cpu_seconds;
  };
  std::vector<Times> times(static_cast<std::size_t>(num_threads));
  run_on_threads(num_threads, [&](int t) {
    const auto begin = Clock::now();
    const double cpu = thread_cpu_seconds();
    work(t);
    times[static_cast<std::size_t>(t)] = {begin, Clock::now(), thread_cpu_seconds() - cpu};
  });
  const auto begin = std::ranges::min(times, {}, &Times::begin).begin;
  const auto end = std::ranges::max(times, {}, &Times::end).end;
  const double cpu =
      std::accumulate(times.begin(), times.end(), 0.0, [](double sum, const Times& t) { return sum + t.cpu_seconds; });
  return {std::chrono::duration<double>(end - begin).count(), cpu};
}

Spread spread_of(std::vector<double> rates) {
  require(!rates.empty(), "at least one measurement");
  std::sort(rates.begin(), rates.end());
  return {rates.back(), (rates[(rates.size() - 1) / 2] + rates[rates.size() / 2]) / 2};
}

std::vector<int> thread_counts(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

double random_reads_per_core_second(std::span<const NodeId> entries, int num_threads, std::uint32_t round) {
  constexpr std::uint32_t kReads = 1 << 21;
  std::vector<std::vector<std::uint32_t>> at(static_cast<std::size_t>(num_threads), std::vector<std::uint32_t>(kReads));
  (void)time_on_threads(num_threads, [&](int t) {
    for (std::uint32_t i = 0; i < kReads; ++i) {
      const std::uint32_t word = philox4x32({}, {{i, static_cast<std::uint32_t>(t), round, 0}}).word[0];
      at[static_cast<std::size_t>(t)][i] = static_cast<std::uint32_t>((word * entries.size()) >> 32);
    }
  });
  const ThreadTimes times = time_on_threads(num_threads, [&](int t) {
    NodeId sum = 0;
    for (const std::uint32_t i : at[static_cast<std::size_t>(t)]) sum += entries[i];
    keep(sum);
  });
  return static_cast<double>(kReads) * num_threads / times.cpu_seconds;
}

double arithmetic_per_core_second(int num_threads) {
  constexpr std::uint32_t kBlocks = 1 << 21;
  const ThreadTimes times = time_on_threads(num_threads, [](int t) {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < kBlocks; ++i)
      sum += philox4x32({}, {{i, static_cast<std::uint32_t>(t), 0, 0}}).word[0];
    keep(sum);
  });
  return static_cast<double>(kBlocks) * num_threads / times.cpu_seconds;
}

double memory_copy_rate(int num_threads) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  struct Arrays {
    HugeVector<std::byte> from, to;
  };
  std::vector<Arrays> arrays(static_cast<std::size_t>(num_threads));
  (void)time_on_threads(num_threads, [&](int t) {  // each thread touches its own
    arrays[static_cast<std::size_t>(t)] = {HugeVector<std::byte>(kBytes, std::byte{1}), HugeVector<std::byte>(kBytes)};
  });
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const ThreadTimes times = time_on_threads(num_threads, [&](int t) {
      Arrays& mine = arrays[static_cast<std::size_t>(t)];
      std::memcpy(mine.to.data(), mine.from.data(), kBytes);
      keep(mine.to.data());
    });
    best = std::max(best, static_cast<double>(kBytes) * num_threads / times.wall_seconds);
  }
  return best;
}

}  // namespace salient
