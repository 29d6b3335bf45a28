// tests/apps/advice_test.cpp - advice fits the machine at hand and the program that was started.
#include "apps/advice.h"

#include <gtest/gtest.h>

#include <string>

namespace salient {
namespace {

TEST(Advice, WithoutAGpuIsNotAboutItsMemory) {
  for (const auto& advice : {train_advice, infer_advice}) {
    EXPECT_EQ(std::string(advice(ErrorKind::kNoDevice, Topic::kDeviceGraph)), "use --sampler host");
    EXPECT_EQ(std::string(advice(ErrorKind::kNoDevice, Topic::kDeviceFeatures)), "use --features host");
    EXPECT_NE(std::string(advice(ErrorKind::kDeviceMemory, Topic::kDeviceGraph)).find("--graph-gb"), std::string::npos);
  }
  EXPECT_EQ(std::string(serve_advice(ErrorKind::kDeviceMemory, Topic::kDeviceGraph)).find("--graph-gb"),
            std::string::npos)
      << "which salient-serve lacks";
}

}  // namespace
}  // namespace salient
