// tests/engine/train/memory_plan_test.cpp - where features and graph go as GPU memory shrinks; no GPU is needed to plan.
#include "engine/train/memory_plan.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/error.h"
#include "tests/support/datasets.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

class ChoosePlaces : public testing::Test {
 protected:
  static TrainOptions small_run() {
    TrainOptions options;
    options.layers = 2;
    options.hidden = 8;
    options.fanout = options.eval_fanout = {2, 2};
    options.batch_size = options.eval_batch_size = 10;
    options.slots = 4;
    options.workers = 1;
    return options;
  }

  /// "FEATURES SAMPLER" with so much GPU memory.
  std::string places(std::int64_t free_bytes, TrainOptions options = small_run()) {
    plan_ = choose_places(options, dataset_, free_bytes, /*num_ranks=*/1);
    EXPECT_EQ(options.cached_rows, plan_.cached_rows);
    return options.features + " " + options.sampler;
  }
  std::int64_t need_of(const std::string& features, const std::string& sampler) {
    TrainOptions options = small_run();
    options.features = features;
    options.sampler = sampler;
    return plan_memory(options, dataset_, std::int64_t{0}, /*num_ranks=*/1).device_bytes;  // of "cached", with no row
  }

  const Dataset dataset_ = test::generated_dataset(20'000, 20, 400, FeatureType::kF32);
  const std::int64_t feature_bytes_ =
      static_cast<std::int64_t>(dataset_.features.num_rows * dataset_.features.row_bytes);
  MemoryPlan plan_;
};

TEST_F(ChoosePlaces, TakesTheBestWayThatFits) {
  const std::int64_t all = need_of("device", "device"), features = need_of("device", "host");
  ASSERT_LT(features, all);
  EXPECT_EQ(places(all), "device device");
  EXPECT_EQ(places(all - 1), "device host");
  EXPECT_EQ(places(features), "device host");
  EXPECT_EQ(places(features - 1), "cached device");
  EXPECT_EQ(places(need_of("cached", "device") + feature_bytes_ / 2), "cached device");
  EXPECT_NEAR(static_cast<double>(plan_.cached_rows), 0.45 * 20'000, 10) << "nine tenths of what is left";
  EXPECT_LE(plan_.device_bytes, plan_.device_available);
  EXPECT_EQ(places(need_of("cached", "device")), "cached host") << "too little for rows beside the graph";
  EXPECT_EQ(places(need_of("cached", "host")), "host host");
  EXPECT_EQ(places(1), "host host") << "which check() then refuses";
  EXPECT_COMPLAINT(check(plan_), ErrorKind::kDeviceMemory, "GPU memory");
}

TEST_F(ChoosePlaces, KeepsToWhatIsAskedFor) {
  TrainOptions options = small_run();
  options.features = "cached";
  options.cache_gb = 0.0016;
  EXPECT_EQ(places(std::int64_t{1} << 40, options), "cached device");
  EXPECT_EQ(plan_.cached_rows, 1000U);
  options.cache_gb = 0;
  options.sampler = "host";
  EXPECT_EQ(places(std::int64_t{1} << 40, options), "cached host");
  EXPECT_EQ(plan_.cached_rows, 20'000U) << "never more than there are";
  EXPECT_EQ(places(0, options), "cached host") << "with no row, as it was asked for";
  options.features = "host";
  EXPECT_EQ(places(std::int64_t{1} << 40, options), "host host");
}

TEST_F(ChoosePlaces, WithoutAGpuEverythingIsOnTheHost) {
  TrainOptions options = small_run();
  (void)choose_places(options, dataset_, std::nullopt, 1);
  EXPECT_EQ(options.features + options.sampler, "hosthost");
  for (const char* features : {"device", "cached"}) {
    options.features = features;
    EXPECT_COMPLAINT((void)choose_places(options, dataset_, std::nullopt, 1), ErrorKind::kNoDevice, features);
  }
}

}  // namespace
}  // namespace salient
