// tests/workbench/clocks_test.cpp - what follows where the clocks of device and host disagree.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <new>

#include "tests/workbench/bench_support.h"

namespace salient::workbench::test {
namespace {

/// A number that the processes of workers share with this one.
class SharedCount {
 public:
  explicit SharedCount(int value)
      : page_(mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        value_(new (page_) std::atomic<int>(value)) {}
  ~SharedCount() { (void)munmap(page_, sizeof(std::atomic<int>)); }
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;

  std::atomic<int>& operator*() const { return *value_; }

 private:
  void* page_;
  std::atomic<int>* value_;
};

/// Claims an hour for the first sample, which is for warming up, as long as `disturbances` last.
class DisturbedExecutor final : public Executor {
 public:
  DisturbedExecutor(std::unique_ptr<Executor> host, std::atomic<int>& disturbances)
      : host_(std::move(host)), disturbances_(disturbances) {}
  void run(const RunOrder& order, Arena& arena) override { host_->run(order, arena); }
  void time(const TimingPlan& plan, SampleRange range, Arena& arena, SampleTimes* times) override {
    host_->time(plan, range, arena, times);
    if (range.begin == 0 && disturbances_-- > 0) times[0].seconds += 3600;
  }
  double copy_rate(Arena&, std::size_t, std::size_t) override { return 1e15; }  // nothing is faster than a copy
  double flop_rate(const std::string& ceiling) override { return host_->flop_rate(ceiling); }

 private:
  std::unique_ptr<Executor> host_;
  std::atomic<int>& disturbances_;
};

class DisturbedHost final : public Backend {
 public:
  DisturbedHost(Backend& host, std::atomic<int>& disturbances) : host_(host), disturbances_(disturbances) {}

  BackendKind kind() const override { return host_.kind(); }
  Machine machine() override { return host_.machine(); }
  std::variant<Artifact, Finding> compile(const Candidate& candidate, const Case& given) override {
    return host_.compile(candidate, given);
  }
  std::unique_ptr<Executor> make_executor(const std::vector<Artifact>& artifacts, std::size_t bytes) override {
    return std::make_unique<DisturbedExecutor>(host_.make_executor(artifacts, bytes), disturbances_);
  }
  WorkerLimits limits() const override { return host_.limits(); }
  std::map<std::string, std::string> environment() override { return host_.environment(); }

 private:
  Backend& host_;
  std::atomic<int>& disturbances_;
};

struct Timed {
  Finding finding{};
  std::size_t shapes;
  int measurements;
};

Timed time_softsign(int disturbances) {
  HostBench bench;
  const SharedCount left(disturbances);
  DisturbedHost backend(*bench.backend, *left);
  const Case given = load_case(cases_folder(), "softsign");
  const Candidate start = start_of(given);
  Timed timed;
  timed.shapes = Referee(backend, given, {.samples = 2}).time(start, start, start, 7, timed.finding).shapes.size();
  timed.measurements = disturbances - *left;
  return timed;
}

TEST(Clocks, WhereTheyDisagreeTheShapeIsMeasuredAgain) {
  const Timed timed = time_softsign(2);
  EXPECT_EQ(timed.finding.verdict, Verdict::kAccepted) << timed.finding.reason;
  EXPECT_EQ(timed.shapes, 2U);
  EXPECT_EQ(timed.measurements, 4);  // three of the first shape, one of the second
}

TEST(Clocks, WhereTheyKeepDisagreeingTheRunStopsForAPerson) {
  const Timed timed = time_softsign(100);
  EXPECT_EQ(timed.finding.verdict, Verdict::kImpossible);
  EXPECT_NE(timed.finding.reason.find("clocks"), std::string::npos) << timed.finding.reason;
  EXPECT_EQ(timed.shapes, 0U);
  EXPECT_EQ(timed.measurements, 3);
}

}  // namespace
}  // namespace salient::workbench::test
