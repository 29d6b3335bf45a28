// tests/core/console/trace_test.cpp - a trace is valid JSON at every moment and has every interval.
#include "core/console/trace.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "core/error.h"

namespace salient {
namespace {

using std::chrono::microseconds;

class TraceTest : public ::testing::Test {
 protected:
  ~TraceTest() override { std::filesystem::remove(path_); }
  nlohmann::json read() const { return nlohmann::json::parse(std::ifstream(path_)); }  // throws on bad JSON
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("salient-trace-" + std::to_string(getpid()) + ".json");
};

TEST_F(TraceTest, WritesTheDocumentedEvents) {
  Trace trace;
  const auto begin = Trace::Clock::now();
  trace.add("lost", "loader", 1, begin, begin);
  EXPECT_FALSE(trace.is_on());
  trace.open(path_, 3);
  EXPECT_EQ(read()["traceEvents"].size(), 1u) << "valid from the start";
  trace.name_row(trace_row::kCopyStream, "copy \"stream\"");
  trace.add("copy", "gpu", trace_row::kCopyStream, begin, begin + microseconds(1500), 42);
  trace.add("step", "train", trace_row::kMain, begin + microseconds(7), begin + microseconds(8));
  trace.close();
  const nlohmann::json events = read()["traceEvents"];
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0]["args"]["name"], "rank 3");
  EXPECT_EQ(events[1]["args"]["name"], "copy \"stream\"");
  EXPECT_EQ(events[1]["tid"], 1001);
  EXPECT_EQ(events[2]["ph"], "X");
  EXPECT_EQ(events[2]["name"], "copy");
  EXPECT_EQ(events[2]["cat"], "gpu");
  EXPECT_EQ(events[2]["pid"], 3);
  EXPECT_EQ(events[2]["tid"], 1001);
  EXPECT_DOUBLE_EQ(events[2]["dur"].get<double>(), 1500.0);
  EXPECT_EQ(events[2]["args"]["batch"], 42);
  EXPECT_NEAR(events[3]["ts"].get<double>() - events[2]["ts"].get<double>(), 7.0, 0.5);
  const auto now = std::chrono::duration<double, std::micro>(std::chrono::system_clock::now().time_since_epoch());
  EXPECT_NEAR(events[2]["ts"].get<double>(), now.count(), 60e6) << "microseconds since 1970";
}

TEST_F(TraceTest, AKilledProcessLeavesValidJson) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Trace trace;
    trace.open(path_, 0);
    const auto now = Trace::Clock::now();
    for (int i = 0; i < 5000; ++i) trace.add("sample", "loader", 1, now, now, i);
    (void)raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_GT(read()["traceEvents"].size(), 1000u);
}

TEST_F(TraceTest, ThreadsLoseNothing) {
  Trace trace;
  trace.open(path_, 0);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&trace, t] {
        const auto now = Trace::Clock::now();
        for (int i = 0; i < 2000; ++i) trace.add("sample", "loader", t, now, now, i);
      });
  }
  trace.close();
  std::map<int, std::int64_t> next;
  const nlohmann::json file = read();
  for (const auto& event : file["traceEvents"]) {
    if (event["ph"] != "X") continue;
    EXPECT_EQ(event["args"]["batch"], next[event["tid"]]++);
  }
  EXPECT_EQ(next, (std::map<int, std::int64_t>{{0, 2000}, {1, 2000}, {2, 2000}, {3, 2000}}));
}

TEST_F(TraceTest, AFullDiskEndsTheTraceAndAMissingFolderIsAnError) {
  Trace trace;
  EXPECT_THROW(trace.open("/nowhere/trace.json", 0), Error);
  trace.open("/dev/full", 0);
  EXPECT_FALSE(trace.is_on());
}

}  // namespace
}  // namespace salient
