// tests/engine/train/signal_agreement_mpi_test.cpp - a signal on one rank is the same decision on all, at one step.
#include "engine/train/signal_agreement.h"

#include <gtest/gtest.h>

#include <csignal>
#include <memory>

#include "engine/comm/mpi_communicator.h"
#include "tests/support/ranks.h"
#include "tests/support/signals.h"

namespace salient {
namespace {

class SignalAgreementOnRanks : public testing::Test {
 protected:
  SignalAgreementOnRanks()
      : comm_(make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120)),
        is_last_(comm_->rank() == comm_->size() - 1) {}
  ~SignalAgreementOnRanks() override {
    test::set_interrupt_signal(0);
    (void)take_checkpoint_request();
  }

  const std::unique_ptr<Communicator> comm_;
  const bool is_last_;
};

TEST_F(SignalAgreementOnRanks, ASignalOfOneRankStopsAllAtTheSameStep) {
  if (is_last_) test::set_interrupt_signal(SIGTERM);
  SignalAgreement agreement(*comm_, 3);
  int stopped_at = 0;
  for (int step = 1; step <= 9; ++step)
    if (agreement.after_step().stop && stopped_at == 0) stopped_at = step;
  EXPECT_TRUE(on_all_ranks(*comm_, stopped_at == 6 && agreement.signal() == SIGTERM)) << stopped_at;
}

TEST_F(SignalAgreementOnRanks, ASignalOfOneRankEndsAnEvaluationOnAll) {
  SignalAgreement agreement(*comm_, 2);
  bool is_right = !agreement.must_stop_after_round();
  if (is_last_) test::set_interrupt_signal(SIGINT);
  for (int round = 2; round <= 4; ++round) is_right = agreement.must_stop_after_round() == (round == 4) && is_right;
  EXPECT_TRUE(on_all_ranks(*comm_, is_right && agreement.signal() == SIGINT));
}

TEST_F(SignalAgreementOnRanks, ACheckpointThatOneRankWantsIsMadeByAllOnce) {
  if (is_last_) test::request_checkpoint();
  SignalAgreement agreement(*comm_, 2);
  int num_checkpoints = 0, made_at = 0;
  for (int step = 1; step <= 10; ++step) {
    const SignalAgreement::Wishes wishes = agreement.after_step();
    if (!wishes.checkpoint) continue;
    ++num_checkpoints;
    made_at = step;
  }
  EXPECT_TRUE(on_all_ranks(*comm_, num_checkpoints == 1 && made_at == 4)) << num_checkpoints << ", " << made_at;
}

TEST_F(SignalAgreementOnRanks, SigtermOutranksSigint) {
  test::set_interrupt_signal(is_last_ ? SIGTERM : SIGINT);
  SignalAgreement between_steps(*comm_, 1), after_steps(*comm_, 1);
  const bool stops = between_steps.must_stop();
  (void)after_steps.after_step();
  const bool stops_after_step = after_steps.after_step().stop;
  EXPECT_TRUE(on_all_ranks(*comm_, stops && between_steps.signal() == SIGTERM));
  EXPECT_TRUE(on_all_ranks(*comm_, stops_after_step && after_steps.signal() == SIGTERM));
}

TEST_F(SignalAgreementOnRanks, MustStopAsksAllRanks) {
  SignalAgreement agreement(*comm_, 8);
  const bool stops_too_early = agreement.must_stop();
  if (is_last_) test::set_interrupt_signal(SIGINT);
  const bool stops = agreement.must_stop();
  EXPECT_TRUE(on_all_ranks(*comm_, !stops_too_early && stops && agreement.signal() == SIGINT));
}

}  // namespace
}  // namespace salient
