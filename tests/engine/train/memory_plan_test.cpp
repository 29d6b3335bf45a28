// tests/engine/train/memory_plan_test.cpp - where features and graph go as GPU memory shrinks; no GPU is needed to plan.
#include "engine/train/memory_plan.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/error.h"
#include "core/value_text.h"
#include "tests/support/datasets.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

class ChoosePlaces : public testing::Test {
 protected:
  static TrainOptions small_run() {
    TrainOptions options;
    options.model.num_layers = 2;
    options.model.hidden_dim = 8;
    options.batches.fanout = options.evaluation.fanout = {2, 2};
    options.batches.size = options.evaluation.batch_size = 10;
    options.machine.slots = 4;
    options.machine.workers = 1;
    return options;
  }

  /// "FEATURES SAMPLER" with so much GPU memory.
  std::string places(std::int64_t free_bytes, TrainOptions options = small_run()) {
    plan_ = choose_places(options, dataset_, free_bytes, /*num_ranks=*/1);
    EXPECT_EQ(options.cached_rows, plan_.cached_rows);
    return to_text(options.machine.features) + " " + to_text(options.machine.sampler);
  }
  std::int64_t need_of(Residency features, GraphResidency sampler) {
    TrainOptions options = small_run();
    options.machine.features = features;
    options.machine.sampler = sampler;
    return plan_memory(options, dataset_, std::int64_t{0}, /*num_ranks=*/1).device_bytes;  // of "cached", with no row
  }

  const Dataset dataset_ = test::generated_dataset(20'000, 20, 400, FeatureType::kF32);
  const std::int64_t feature_bytes_ =
      static_cast<std::int64_t>(dataset_.features.num_rows * dataset_.features.row_bytes);
  MemoryPlan plan_;
};

TEST_F(ChoosePlaces, TakesTheBestWayThatFits) {
  const std::int64_t all = need_of(Residency::kDevice, GraphResidency::kDevice),
                     features = need_of(Residency::kDevice, GraphResidency::kHost);
  ASSERT_LT(features, all);
  EXPECT_EQ(places(all), "device device");
  EXPECT_EQ(places(all - 1), "device host");
  EXPECT_EQ(places(features), "device host");
  EXPECT_EQ(places(features - 1), "cached device");
  EXPECT_EQ(places(need_of(Residency::kCached, GraphResidency::kDevice) + feature_bytes_ / 2), "cached device");
  EXPECT_NEAR(static_cast<double>(plan_.cached_rows), 0.45 * 20'000, 10) << "nine tenths of what is left";
  EXPECT_LE(plan_.device_bytes, plan_.device_available);
  EXPECT_EQ(places(need_of(Residency::kCached, GraphResidency::kDevice)), "cached host")
      << "too little for rows beside the graph";
  EXPECT_EQ(places(need_of(Residency::kCached, GraphResidency::kHost)), "host host");
  EXPECT_EQ(places(1), "host host") << "which check() then refuses";
  EXPECT_COMPLAINT(check(plan_), ErrorKind::kDeviceMemory, "GPU memory");
}

TEST_F(ChoosePlaces, KeepsToWhatIsAskedFor) {
  TrainOptions options = small_run();
  options.machine.features = Residency::kCached;
  options.machine.cache_gb = 0.0016;
  EXPECT_EQ(places(std::int64_t{1} << 40, options), "cached device");
  EXPECT_EQ(plan_.cached_rows, 1000U);
  options.machine.cache_gb = 0;
  options.machine.sampler = GraphResidency::kHost;
  EXPECT_EQ(places(std::int64_t{1} << 40, options), "cached host");
  EXPECT_EQ(plan_.cached_rows, 20'000U) << "never more than there are";
  EXPECT_EQ(places(0, options), "cached host") << "with no row, as it was asked for";
  options.machine.features = Residency::kHost;
  EXPECT_EQ(places(std::int64_t{1} << 40, options), "host host");
}

TEST_F(ChoosePlaces, WithoutAGpuEverythingIsOnTheHost) {
  TrainOptions options = small_run();
  (void)choose_places(options, dataset_, std::nullopt, 1);
  EXPECT_EQ(to_text(options.machine.features) + to_text(options.machine.sampler), "hosthost");
  for (const Residency features : {Residency::kDevice, Residency::kCached}) {
    options.machine.features = features;
    EXPECT_COMPLAINT((void)choose_places(options, dataset_, std::nullopt, 1), ErrorKind::kNoDevice, name_of(features));
  }
}

}  // namespace
}  // namespace salient
