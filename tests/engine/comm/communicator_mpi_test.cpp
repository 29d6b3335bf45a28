// tests/engine/comm/communicator_mpi_test.cpp - every collective of the host back end against its closed form.
#include "engine/comm/communicator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include "engine/comm/mpi_communicator.h"
#include "tests/support/ranks.h"

namespace salient {
namespace {

class MpiCommunicatorTest : public ::testing::Test {
 protected:
  MpiCommunicatorTest() : comm(make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120)) {}
  float sum_of_ranks() const { return static_cast<float>(comm->size() * (comm->size() + 1) / 2); }  // of rank + 1
  std::unique_ptr<Communicator> comm;
};

TEST_F(MpiCommunicatorTest, KnowsItsPlace) {
  EXPECT_EQ(comm->rank(), launch_of_test().rank);
  EXPECT_EQ(comm->size(), launch_of_test().size);
  EXPECT_EQ(comm->name(), "mpi");
}

TEST_F(MpiCommunicatorTest, SumsFloatsOfAnyLength) {
  bool is_right = true;
  for (const std::size_t size : {0u, 1u, 2u, 3u, 1000u, 65536u, 300000u, 2000001u}) {
    std::vector<float> data(size);
    for (std::size_t i = 0; i < size; ++i)
      data[i] = static_cast<float>(comm->rank() + 1) * static_cast<float>(i % 1000);
    comm->all_reduce_sum(std::span<float>(data), nullptr);
    for (std::size_t i = 0; i < size; ++i)
      is_right = is_right && data[i] == sum_of_ranks() * static_cast<float>(i % 1000);
  }
  EXPECT_TRUE(on_all_ranks(*comm, is_right));
}

TEST_F(MpiCommunicatorTest, RoundsAlikeOnEveryRank) {
  std::vector<float> data(100003);  // odd, so that no algorithm splits it evenly
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = 1.0F / static_cast<float>(1 + (i * 2654435761u + static_cast<std::size_t>(comm->rank()) * 40503u) % 9973);
  comm->all_reduce_sum(std::span<float>(data), nullptr);
  std::string bytes(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(float));
  const std::string mine = bytes;
  comm->broadcast(bytes);
  EXPECT_TRUE(on_all_ranks(*comm, bytes == mine));
}

TEST_F(MpiCommunicatorTest, SumsDoubles) {
  std::vector<double> data{1.5, static_cast<double>(comm->rank()), -1e300};
  comm->all_reduce_sum(std::span<double>(data));
  const double n = comm->size();
  EXPECT_TRUE(on_all_ranks(*comm, data == std::vector<double>{1.5 * n, n * (n - 1) / 2, -1e300 * n}));
}

TEST_F(MpiCommunicatorTest, BroadcastsFloatsOfRankZero) {
  std::vector<float> data(70001, static_cast<float>(comm->rank()) + 7);
  comm->broadcast(std::span<float>(data), nullptr);
  EXPECT_TRUE(on_all_ranks(*comm, std::ranges::all_of(data, [](float x) { return x == 7; })));
}

TEST_F(MpiCommunicatorTest, BroadcastsBytesOfAnyLength) {
  bool is_right = true;
  for (const std::size_t size : {0u, 1u, 5u, 100000u}) {
    const std::string expected = std::string(size, 'x') + std::string("\0end", 4);
    std::string bytes = comm->rank() == 0 ? expected : "something else";
    comm->broadcast(bytes);
    is_right = is_right && bytes == expected;
  }
  EXPECT_TRUE(on_all_ranks(*comm, is_right));
}

TEST_F(MpiCommunicatorTest, GathersUnequalBytesInRankOrder) {
  const auto of_rank = [](int rank) {
    return std::string(static_cast<std::size_t>(rank) * 30000, static_cast<char>('a' + rank));
  };
  const std::vector<std::string> all = comm->gather(of_rank(comm->rank()));
  bool is_right = all.size() == (comm->rank() == 0 ? static_cast<std::size_t>(comm->size()) : 0);
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    is_right = is_right && all[rank] == of_rank(static_cast<int>(rank));
  EXPECT_TRUE(on_all_ranks(*comm, is_right));
}

TEST_F(MpiCommunicatorTest, KeepsManySmallCallsInOrder) {
  bool is_right = true;
  for (int call = 0; call < 300; ++call) {
    std::vector<float> data(static_cast<std::size_t>(1 + call % 7), static_cast<float>((comm->rank() + 1) * call));
    if (call % 3 == 2) {
      comm->broadcast(std::span<float>(data), nullptr);
      is_right = is_right && data[0] == static_cast<float>(call);
    } else {
      comm->all_reduce_sum(std::span<float>(data), nullptr);
      is_right = is_right && data.back() == sum_of_ranks() * static_cast<float>(call);
    }
  }
  EXPECT_TRUE(on_all_ranks(*comm, is_right));
}

TEST_F(MpiCommunicatorTest, ExchangesFlagsOneCallLaterBesideOtherCalls) {
  bool is_right = true;
  std::uint32_t said_before = 0;
  for (std::uint32_t call = 0; call < 50; ++call) {
    const std::uint32_t said_by_last = call % 5 == 0 ? 1u << (call % 31) : 0u;  // only the last rank says something
    const std::uint32_t heard = comm->exchange_flags(comm->rank() == comm->size() - 1 ? said_by_last : 0);
    is_right = is_right && heard == said_before;
    said_before = said_by_last;
    comm->barrier();
  }
  EXPECT_TRUE(on_all_ranks(*comm, is_right));
}

TEST_F(MpiCommunicatorTest, HasNoMemoryOfGpusAndEnqueuesAtOnce) {
  EXPECT_FALSE(comm->peer_access(64).has_value());
  int num_calls = 0;
  comm->watch(nullptr, [&] { ++num_calls; });
  EXPECT_EQ(num_calls, 1);
}

TEST_F(MpiCommunicatorTest, WaitsUntilSomethingElseHolds) {
  int num_looks = 0;
  comm->wait_until([&] { return ++num_looks == 1000; });
  EXPECT_TRUE(on_all_ranks(*comm, num_looks == 1000));
}

TEST_F(MpiCommunicatorTest, GivesUpWhatDoesNotHoldInTimeAndOthersHearIt) {
  const auto start = std::chrono::steady_clock::now();
  const auto impatient = make_mpi_communicator(launch_of_test(), comm->rank() == 0 ? 1 : 20);
  bool is_given_up = false;
  try {
    impatient->wait_until([] { return false; });
  } catch (const RankError& error) {
    is_given_up = error.kind() == ErrorKind::kComm && error.logs_here() == (comm->rank() == 0);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_TRUE(on_all_ranks(*comm, is_given_up && seconds.count() < 15));
}

double cpu_seconds() {
  rusage usage{};
  (void)getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST_F(MpiCommunicatorTest, SleepsWhileItWaits) {
  comm->barrier();
  const double before = cpu_seconds();
  if (comm->rank() == 0) std::this_thread::sleep_for(std::chrono::seconds(2));
  comm->barrier();
  EXPECT_TRUE(on_all_ranks(*comm, cpu_seconds() - before < 0.4));  // spinning would take 2
}

}  // namespace
}  // namespace salient
