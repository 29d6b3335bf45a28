// tests/core/bounded_queue_test.cpp - order, bound, and every way a stream can end.
#include "core/bounded_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace salient {
namespace {

TEST(BoundedQueue, DeliversEverythingOnceWhateverTheThreads) {
  constexpr int kPerProducer = 2000;
  BoundedQueue<int> queue(3);
  std::atomic<long> sum{0};
  {
    std::vector<std::jthread> consumers, producers;
    for (int c = 0; c < 3; ++c)
      consumers.emplace_back([&] {
        while (const auto item = queue.pop()) sum += *item;
      });
    for (int p = 0; p < 3; ++p)
      producers.emplace_back([&] {
        for (int i = 1; i <= kPerProducer; ++i) EXPECT_TRUE(queue.push(i));
      });
    producers.clear();  // joins
    queue.close();
  }
  EXPECT_EQ(sum, 3L * kPerProducer * (kPerProducer + 1) / 2);
}

TEST(BoundedQueue, CloseKeepsWhatWasPushedAndRefusesMore) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.push(1));
  EXPECT_TRUE(queue.push(2));
  queue.close();
  EXPECT_FALSE(queue.push(3));
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, CloseWakesABlockedProducer) {
  BoundedQueue<int> queue(1);
  EXPECT_TRUE(queue.push(1));
  const std::jthread producer([&] { EXPECT_FALSE(queue.push(2)) << "the queue is full until it is closed"; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // long enough for it to block, in all likelihood
  queue.close();
}

TEST(BoundedQueue, AProducersErrorReachesEveryConsumer) {
  BoundedQueue<int> queue(1);
  EXPECT_TRUE(queue.push(1));
  queue.close(std::make_exception_ptr(Error(ErrorKind::kIo, "disk full")));
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_THROW((void)queue.pop(), Error);
  EXPECT_THROW((void)queue.pop(), Error);
}

}  // namespace
}  // namespace salient
