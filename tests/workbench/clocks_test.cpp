// tests/workbench/clocks_test.cpp - what follows where the clocks of device and host disagree.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <new>

#include "tests/workbench/bench_support.h"
#include "workbench/referee/process_clock.h"

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
  SampleTimes time(const TimingPlan& plan, std::size_t sample, Arena& arena) override {
    SampleTimes times = host_->time(plan, sample, arena);
    if (sample == 0 && disturbances_-- > 0) times.seconds += 3600;
    return times;
  }
  void fetch(Placement, Arena&) override {}
  double copy_rate(Arena&, std::size_t, std::size_t) override { return 1e15; }  // nothing is faster than a copy
  double flop_rate(const std::string& ceiling) override { return host_->flop_rate(ceiling); }

 private:
  std::unique_ptr<Executor> host_;
  std::atomic<int>& disturbances_;
};

/// Is asked for its clock, as a device is: the host's is read by the referee.
class DisturbedHost final : public Backend {
 public:
  DisturbedHost(Backend& host, std::atomic<int>& disturbances) : host_(host), disturbances_(disturbances) {}

  BackendKind kind() const override { return BackendKind::kCuda; }
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
  const Case given = as_on_a_device(load_case(cases_folder(), "softsign"));
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

/// Samples of a process as they should be, and not all alike.
std::vector<Usage> usages(double cpu, double away) {
  std::vector<Usage> list;
  for (int i = 0; i < 20; ++i) {
    const double factor = 1 + 0.1 * (i % 5);
    list.push_back({.cpu = cpu * factor, .away = away * factor, .waits = 1, .threads = 1});
  }
  return list;
}

TEST(Clocks, OfAProcessThatOnlyComputesAgree) {
  EXPECT_EQ(hidden_work(usages(1e-3, 50e-6), usages(5e-3, 50e-6)), "");
  EXPECT_EQ(hidden_work(usages(1e-3, 20e-3), usages(1e-3, 20e-3)), "") << "a busy machine keeps all from their cores";
  EXPECT_EQ(hidden_work(usages(1e-3, 10e-3), usages(1e-3, 8e-3)), "");
}

TEST(Clocks, ShowWorkThatIsDoneElsewhere) {
  const std::vector<Usage> best = usages(5e-3, 50e-6);
  EXPECT_NE(hidden_work(usages(0.3e-3, 5e-3), best).find("passed without it"), std::string::npos) << "it sleeps";
  std::vector<Usage> one = usages(1e-3, 50e-6);
  one[7].threads = 2;
  EXPECT_EQ(hidden_work(one, best), "it has 2 threads");
  one = usages(1e-3, 50e-6);
  for (Usage& usage : one) usage.waits = 2;
  EXPECT_EQ(hidden_work(one, best), "it waits 1.0 times in a sample") << "for a lock";
}

TEST(Clocks, OfAChildCountItsCpuTimeAndItsWaits) {
  Worker worker([] {},
                [](std::size_t step) {
                  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
                  if (step == 1) (void)usleep(20000);
                  while (step == 0 && std::chrono::steady_clock::now() < end) {
                  }
                },
                {});
  ASSERT_EQ(worker.wait_until_ready(60).kind, Reply::Kind::kOk);
  const ProcessClock clock(worker.process());
  const auto used = [&](std::size_t step) {
    (void)usleep(20000);
    const ProcessTimes before = clock.read();
    (void)worker.run(step, 60);
    (void)usleep(20000);
    const ProcessTimes after = clock.read();
    EXPECT_EQ(after.threads, 1);
    return std::pair{after.cpu - before.cpu, after.waits - before.waits};
  };
  const auto [busy, of_busy] = used(0);
  const auto [asleep, of_asleep] = used(1);
  EXPECT_GT(busy, asleep + 1e-3);
  EXPECT_EQ(of_busy, 1);
  EXPECT_EQ(of_asleep, 2);
}

}  // namespace
}  // namespace salient::workbench::test
