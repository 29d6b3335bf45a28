// tests/engine/comm/nccl_messages_gpu_test.cpp - rows by NCCL from pinned host memory: every byte, beside sums of
// gradients, and what happens when nobody answers. Each rank takes one GPU; skipped with fewer GPUs than ranks.
#include "engine/comm/nccl_messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include "core/timer.h"
#include "engine/comm/mpi_communicator.h"
#include "engine/comm/nccl_communicator.h"
#include "tests/support/ranks.h"

namespace salient {
namespace {

/// Messages to and from all ranks, in one pinned block.
class Mail {
 public:
  /// @param bytes(from, to)  of a message
  template <class Bytes>
  Mail(const Communicator& comm, int round, const Bytes& bytes) : rank_(comm.rank()), round_(round) {
    std::size_t total = 0;
    for (int other = 0; other < comm.size(); ++other) total += bytes(rank_, other) + bytes(other, rank_);
    memory_ = make_pinned_array<std::byte>(std::max<std::size_t>(1, total));
    std::byte* next = memory_.get();
    for (int other = 0; other < comm.size(); ++other) {
      const std::span<std::byte> sent(next, bytes(rank_, other)), got(next + sent.size(), bytes(other, rank_));
      for (std::size_t k = 0; k < sent.size(); ++k) sent[k] = value(rank_, other, k);
      std::ranges::fill(got, std::byte{0xee});
      out_.emplace_back(sent);
      in_.push_back(got);
      next += sent.size() + got.size();
    }
  }

  std::unique_ptr<Transfer> start(Messages& messages) const { return messages.transfer(out_, in_); }

  bool is_right() const {
    for (int other = 0; other < static_cast<int>(in_.size()); ++other) {
      const std::span<std::byte> got = in_[static_cast<std::size_t>(other)];
      for (std::size_t k = 0; k < got.size() && other != rank_; ++k)
        if (got[k] != value(other, rank_, k)) return false;
    }
    return true;
  }

 private:
  std::byte value(int from, int to, std::size_t k) const {
    return static_cast<std::byte>((k * 31 + static_cast<std::size_t>(from * 7 + to * 3 + round_ * 11)) % 251);
  }

  int rank_, round_;
  PinnedArray<std::byte> memory_{};
  std::vector<std::span<const std::byte>> out_;
  std::vector<std::span<std::byte>> in_;
};

class NcclMessagesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int num_gpus = 0;
    if (cudaGetDeviceCount(&num_gpus) != cudaSuccess || num_gpus < launch_of_test().ranks_on_host)
      GTEST_SKIP() << "fewer GPUs than ranks";
    cuda_check(cudaSetDevice(launch_of_test().local_rank));
    control_ = make_mpi_communicator(launch_of_test(), 30);
    comm_ = connected(30);
  }
  static std::unique_ptr<Communicator> connected(double timeout_seconds) {
    return make_nccl_communicator(make_mpi_communicator(launch_of_test(), timeout_seconds), timeout_seconds,
                                  RowBackend::kNccl);
  }

  std::unique_ptr<Communicator> control_, comm_;
};

TEST_F(NcclMessagesTest, ArriveWholeInOrderBesideSumsOfGradients) {
  const CudaStream stream;
  const auto gradients = make_device_array<float>(300000);
  cuda_check(cudaMemsetAsync(gradients.get(), 0, 300000 * sizeof(float), stream.get()));
  const std::size_t sizes[] = {0, 1, 256, 4096, 100003, 0, 3000001};
  std::vector<Mail> mails;
  for (int round = 0; round < 40; ++round)
    mails.emplace_back(*comm_, round, [&](int from, int to) { return sizes[(round + 3 * from + to) % 7]; });
  std::vector<std::unique_ptr<Transfer>> started;
  bool is_right = true;
  for (std::size_t round = 0; round < mails.size(); ++round) {  // three on their way at a time
    started.push_back(mails[round].start(comm_->rows()));
    comm_->all_reduce_sum({gradients.get(), 300000}, stream.get());
    if (round < 2) continue;
    started[round - 2]->wait();
    is_right = is_right && mails[round - 2].is_right();
  }
  for (std::size_t round = mails.size() - 2; round < mails.size(); ++round) {
    started[round]->wait();
    is_right = is_right && mails[round].is_right();
  }
  stream.wait();
  EXPECT_EQ(comm_->rows().name(), "nccl");
  EXPECT_TRUE(on_all_ranks(*control_, is_right));
}

TEST_F(NcclMessagesTest, ThatNobodySendsAreGivenUp) {
  const auto impatient = connected(5);  // starts in 1 to 2 s
  const Mail mail(*comm_, 0, [](int, int) { return std::size_t{1000}; });
  bool is_noticed = true;
  if (comm_->size() > 1 && comm_->rank() == 0) {
    const Timer timer;
    is_noticed = false;
    try {
      mail.start(impatient->rows())->wait();
    } catch (const Error& error) {
      is_noticed = error.kind() == ErrorKind::kComm;
    }
    std::printf("given up after %.1f s\n", timer.seconds());
    is_noticed = is_noticed && timer.seconds() < 15;
  }
  EXPECT_TRUE(on_all_ranks(*control_, is_noticed));
  impatient->cancel();
}

TEST_F(NcclMessagesTest, AreLetGoWhereTheRunEnds) {
  const auto ended = connected(30);
  const Mail mail(*comm_, 0, [](int, int) { return std::size_t{1000}; });
  if (comm_->size() > 1 && comm_->rank() == 0) {
    const auto transfer = mail.start(ended->rows());  // the others never send
    ended->cancel();
    cuda_check(cudaDeviceSynchronize());  // would hang
  }
  EXPECT_TRUE(on_all_ranks(*control_, true));
}

TEST_F(NcclMessagesTest, ArriveWholeWhereTheyAreLarge) {
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{64} << 20})
    for (int round = 0; round < 3; ++round) {
      const Mail mail(*comm_, round, [=](int, int) { return bytes; });
      mail.start(comm_->rows())->wait();
      EXPECT_TRUE(on_all_ranks(*control_, mail.is_right())) << bytes << " bytes, round " << round;
    }
}

}  // namespace
}  // namespace salient
