// tests/engine/train/signal_agreement_test.cpp - when a signal stops a run of one rank, or asks for a checkpoint.
#include "engine/train/signal_agreement.h"

#include <gtest/gtest.h>

#include <csignal>
#include <memory>

#include "tests/support/signals.h"

namespace salient {
namespace {

/// The number of the first step, from 1, after which `agreement` wants to stop; 0 if none of `num_steps` does.
int first_stop(SignalAgreement& agreement, int num_steps) {
  for (int step = 1; step <= num_steps; ++step)
    if (agreement.after_step().stop) return step;
  return 0;
}

class SignalAgreementTest : public testing::Test {
 protected:
  ~SignalAgreementTest() override {
    test::set_interrupt_signal(0);
    (void)take_checkpoint_request();
  }
  const std::unique_ptr<Communicator> comm_ = make_self_communicator();
};

TEST_F(SignalAgreementTest, WithoutASignalTrainingGoesOn) {
  SignalAgreement agreement(*comm_, 1);
  for (int step = 0; step < 20; ++step) {
    const SignalAgreement::Wishes wishes = agreement.after_step();
    ASSERT_FALSE(wishes.stop || wishes.checkpoint) << step;
    ASSERT_FALSE(agreement.must_stop_after_round() || agreement.must_stop()) << step;
  }
  EXPECT_EQ(agreement.signal(), 0);
}

TEST_F(SignalAgreementTest, StopsOneExchangeAfterTheSignalAndStaysStopped) {
  SignalAgreement agreement(*comm_, 1);
  EXPECT_FALSE(agreement.after_step().stop);
  test::set_interrupt_signal(SIGTERM);
  EXPECT_FALSE(agreement.after_step().stop) << "sent, not yet received";
  EXPECT_TRUE(agreement.after_step().stop);
  EXPECT_EQ(agreement.signal(), SIGTERM);
  test::set_interrupt_signal(0);
  EXPECT_TRUE(agreement.after_step().stop && agreement.must_stop() && agreement.must_stop_after_round());
}

TEST_F(SignalAgreementTest, ExchangesAtEveryNthStepOnly) {
  for (const int steps_between : {1, 3, 8}) {
    test::set_interrupt_signal(SIGINT);
    const auto comm = make_self_communicator();  // keeps the flags of its last exchange
    SignalAgreement agreement(*comm, steps_between);
    EXPECT_EQ(first_stop(agreement, 20), 2 * steps_between);
    EXPECT_EQ(agreement.signal(), SIGINT);
  }
}

TEST_F(SignalAgreementTest, RoundsOfEvaluationCountAsSteps) {
  test::set_interrupt_signal(SIGINT);
  SignalAgreement agreement(*comm_, 2);
  EXPECT_FALSE(agreement.must_stop_after_round());
  EXPECT_FALSE(agreement.must_stop_after_round());  // sent
  EXPECT_FALSE(agreement.after_step().stop);
  EXPECT_TRUE(agreement.must_stop_after_round());  // received
}

TEST_F(SignalAgreementTest, ACheckpointIsWantedOncePerRequest) {
  SignalAgreement agreement(*comm_, 1);
  for (int request = 0; request < 2; ++request) {
    test::request_checkpoint();
    EXPECT_FALSE(agreement.after_step().checkpoint) << "sent, not yet received";
    const SignalAgreement::Wishes wishes = agreement.after_step();
    EXPECT_TRUE(wishes.checkpoint);
    EXPECT_FALSE(wishes.stop);
    for (int step = 0; step < 5; ++step) EXPECT_FALSE(agreement.after_step().checkpoint);
  }
}

TEST_F(SignalAgreementTest, ARequestThatAnEvaluationReceivesWaitsForTheNextStep) {
  SignalAgreement agreement(*comm_, 1);
  test::request_checkpoint();
  EXPECT_FALSE(agreement.after_step().checkpoint);  // sent
  for (int round = 0; round < 3; ++round) EXPECT_FALSE(agreement.must_stop_after_round());
  EXPECT_TRUE(agreement.after_step().checkpoint);
  EXPECT_FALSE(agreement.after_step().checkpoint);
}

TEST_F(SignalAgreementTest, ARequestDuringAnEvaluationIsSentByTheNextStep) {
  SignalAgreement agreement(*comm_, 1);
  (void)agreement.after_step();
  test::request_checkpoint();
  for (int round = 0; round < 3; ++round) EXPECT_FALSE(agreement.must_stop_after_round());
  EXPECT_FALSE(agreement.after_step().checkpoint);
  EXPECT_TRUE(agreement.after_step().checkpoint);
}

TEST_F(SignalAgreementTest, MustStopAnswersAtOnce) {
  SignalAgreement agreement(*comm_, 8);
  EXPECT_FALSE(agreement.must_stop());
  test::set_interrupt_signal(SIGINT);
  EXPECT_TRUE(agreement.must_stop());
  EXPECT_EQ(agreement.signal(), SIGINT);
  EXPECT_TRUE(agreement.after_step().stop) << "without another exchange";
}

TEST_F(SignalAgreementTest, EverySignalButSigintEndsAsSigterm) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    test::set_interrupt_signal(signal);
    const auto comm = make_self_communicator();
    SignalAgreement between_steps(*comm, 1), after_steps(*comm, 1);
    EXPECT_TRUE(between_steps.must_stop());
    EXPECT_EQ(first_stop(after_steps, 3), 2);
    EXPECT_EQ(between_steps.signal(), SIGTERM);
    EXPECT_EQ(after_steps.signal(), SIGTERM);
  }
}

}  // namespace
}  // namespace salient
