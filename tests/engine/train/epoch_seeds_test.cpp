// tests/engine/train/epoch_seeds_test.cpp - all ranks' shares of an epoch are its seeds, each once; labels are counted.
#include "engine/train/epoch_seeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace salient {
namespace {

constexpr std::size_t kSeeds = 103, kGlobalBatch = 20, kSteps = 6;

struct Labelled {
  explicit Labelled(Task task) {
    std::iota(train.begin(), train.end(), NodeId{7});
    for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = static_cast<std::int8_t>(static_cast<int>(i * i % 3) - 1);
    dataset.task = task;
    dataset.num_classes = 4;
    dataset.train = train;
    dataset.labels = classes;
    if (task == Task::kMultiLabel) dataset.multi_labels = flags;
  }
  std::vector<NodeId> train = std::vector<NodeId>(kSeeds);
  std::vector<std::int32_t> classes = std::vector<std::int32_t>(kSeeds + 7, 1);
  std::vector<std::int8_t> flags = std::vector<std::int8_t>(4 * (kSeeds + 7));
  Dataset dataset{};
};

TEST(EpochSeeds, SharesOfAllRanksAreEverySeedOnce) {
  for (const Task task : {Task::kMultiClass, Task::kMultiLabel}) {
    const Labelled data(task);
    for (const int num_ranks : {1, 2, 3, 8}) {
      std::vector<NodeId> seen;
      std::vector<std::int64_t> labels(kSteps);
      for (int rank = 0; rank < num_ranks; ++rank) {
        EpochSeeds seeds(data.dataset, 5, kGlobalBatch, rank, num_ranks);
        ASSERT_EQ(seeds.num_steps(), kSteps);
        const std::vector<BatchRequest> requests = seeds.start(2, 0);
        ASSERT_EQ(requests.size(), kSteps);
        for (std::uint32_t step = 0; step < kSteps; ++step) {
          EXPECT_EQ(requests[step].key.seed, 5u);
          EXPECT_EQ(requests[step].key.epoch, 2u);
          EXPECT_EQ(requests[step].key.batch, step);
          for (const NodeId seed : requests[step].seeds) {
            seen.push_back(seed);
            labels[step] += data.dataset.label_table().num_known(seed);
          }
        }
        if (rank + 1 < num_ranks) continue;
        for (std::size_t step = 0; step < kSteps; ++step) EXPECT_EQ(seeds.num_labels(step), labels[step]);
      }
      std::ranges::sort(seen);
      EXPECT_EQ(seen, data.train) << num_ranks << " ranks";
    }
  }
}

TEST(EpochSeeds, DealtToOwnersAGlobalBatchHasTheSeedsOfAnEvenDeal) {
  const Labelled data(Task::kMultiLabel);
  std::vector<std::uint16_t> owner(kSeeds + 7);
  for (std::size_t v = 0; v < owner.size(); ++v) owner[v] = v % 3 == 0;
  const Parts parts{.num_parts = 2, .owner = owner};
  std::vector<std::vector<NodeId>> even(kSteps), owned(kSteps);
  std::size_t num_kept = 0;
  for (int rank = 0; rank < 2; ++rank) {
    EpochSeeds plain(data.dataset, 5, kGlobalBatch, rank, 2), dealt(data.dataset, 5, kGlobalBatch, rank, 2, parts);
    (void)dealt.start(1, 0);
    dealt.prepare(2);
    const std::vector<BatchRequest> all = plain.start(2, 0), mine = dealt.start(2, 0);
    for (std::size_t step = 0; step < kSteps; ++step) {
      even[step].insert(even[step].end(), all[step].seeds.begin(), all[step].seeds.end());
      owned[step].insert(owned[step].end(), mine[step].seeds.begin(), mine[step].seeds.end());
      EXPECT_EQ(plain.num_labels(step), dealt.num_labels(step));
      const auto first = static_cast<std::size_t>(mine[step].seeds.data() - dealt.order().data());
      EXPECT_LE(first + mine[step].seeds.size(), kSeeds) << "a part of the order";
      num_kept += static_cast<std::size_t>(
          std::ranges::count_if(mine[step].seeds, [&](NodeId seed) { return owner[seed] == rank; }));
    }
  }
  for (std::size_t step = 0; step < kSteps; ++step) EXPECT_TRUE(std::ranges::is_permutation(even[step], owned[step]));
  EXPECT_GE(num_kept, 80U) << "of 103, a third of which has one owner: at most 10/9 of the mean stay";
}

TEST(EpochSeeds, AnEpochThatGoesOnHasTheSeedsThatWereLeft) {
  const Labelled data(Task::kMultiClass);
  EpochSeeds whole(data.dataset, 5, kGlobalBatch, 1, 2), rest(data.dataset, 5, kGlobalBatch, 1, 2);
  const std::vector<BatchRequest> all = whole.start(3, 0);
  (void)rest.start(2, 0);
  const std::vector<BatchRequest> left = rest.start(3, 4);
  ASSERT_EQ(left.size(), kSteps - 4);
  for (std::size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].key.batch, i + 4);
    EXPECT_TRUE(std::ranges::equal(left[i].seeds, all[i + 4].seeds));
  }
  EXPECT_FALSE(std::ranges::equal(whole.start(4, 0)[0].seeds, left[0].seeds)) << "another epoch, another order";
}

TEST(EpochSeeds, APreparedEpochIsTheOneThatWouldHaveBeenShuffled) {
  const Labelled data(Task::kMultiLabel);
  EpochSeeds ahead(data.dataset, 5, kGlobalBatch, 1, 2), plain(data.dataset, 5, kGlobalBatch, 1, 2);
  const auto expect_same = [&](int epoch) {
    const std::vector<BatchRequest> got = ahead.start(epoch, 0), expected = plain.start(epoch, 0);
    for (std::size_t i = 0; i < kSteps; ++i) {
      EXPECT_EQ(got[i].key.epoch, expected[i].key.epoch);
      EXPECT_TRUE(std::ranges::equal(got[i].seeds, expected[i].seeds)) << "epoch " << epoch << " step " << i;
      EXPECT_EQ(ahead.num_labels(i), plain.num_labels(i));
    }
    EXPECT_TRUE(std::ranges::equal(ahead.order(), plain.order()));
  };
  (void)expect_same(1);
  const std::vector<NodeId> before(ahead.order().begin(), ahead.order().end());
  ahead.prepare(2);
  EXPECT_TRUE(std::ranges::equal(ahead.order(), before)) << "the epoch that goes on keeps its order";
  (void)expect_same(2);
  ahead.prepare(3);
  (void)expect_same(7);  // another one is wanted
  (void)expect_same(3);
}

TEST(EpochSeeds, DivideByTheWeightsOfTheGlobalBatchOnEveryRank) {
  Labelled data(Task::kMultiClass);
  for (std::size_t i = 0; i < data.classes.size(); ++i) data.classes[i] = static_cast<std::int32_t>(i % 4);
  const std::vector<float> weights = {0.1F, 2, 0, 0.7F};
  std::vector<double> of_one_rank;
  for (const int num_ranks : {1, 3}) {
    EpochSeeds seeds(data.dataset, 5, kGlobalBatch, num_ranks - 1, num_ranks),
        plain(data.dataset, 5, kGlobalBatch, 0, 1);
    seeds.weigh_by(weights);
    (void)seeds.start(1, 0);
    (void)plain.start(1, 0);
    double all = 0;
    for (std::size_t step = 0; step < kSteps; ++step) {
      double expected = 0;
      for (std::size_t i = step * kGlobalBatch; i < std::min(kSeeds, (step + 1) * kGlobalBatch); ++i)
        expected += weights[static_cast<std::size_t>(data.classes[plain.order()[i]])];
      EXPECT_NEAR(seeds.loss_divisor(step), expected, 1e-9);
      EXPECT_EQ(plain.loss_divisor(step), static_cast<double>(plain.num_labels(step)));
      all += seeds.loss_divisor(step);
      if (num_ranks == 1) of_one_rank.push_back(seeds.loss_divisor(step));
      EXPECT_EQ(seeds.loss_divisor(step), of_one_rank[step]) << "the same bits";
    }
    EXPECT_EQ(seeds.loss_divisor_before(kSteps), all);
    EXPECT_EQ(seeds.loss_divisor_before(0), 0);
  }
}

TEST(EpochSeeds, OfClassesThatDoNotCountDivideByOne) {
  const Labelled data(Task::kMultiClass);  // all of class 1
  EpochSeeds seeds(data.dataset, 5, kGlobalBatch, 0, 1);
  seeds.weigh_by({1, 0, 1, 1});
  (void)seeds.start(1, 0);
  EXPECT_EQ(seeds.loss_divisor(0), 1);
}

}  // namespace
}  // namespace salient
