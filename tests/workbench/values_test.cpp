// tests/workbench/values_test.cpp - times by kinds of values: kinds take turns, and nothing that was not measured is
// accepted.
#include <gtest/gtest.h>

#include <map>

#include "tests/workbench/bench_support.h"
#include "workbench/backend/nvml.h"
#include "workbench/referee/orders.h"

namespace salient::workbench::test {
namespace {

TEST(TimingPlan, KindsOfValuesTakeTurns) {
  const Case given = load_case(cases_folder(), "softsign");
  const Candidate start = start_of(given);
  const std::vector<const Candidate*> kernels = {&start, &start};
  std::vector<Problem> problems;
  for (const ValuePattern values : kComparedValues)
    for (std::uint64_t set = 0; set < 2; ++set)
      problems.emplace_back(given, ProblemSpec{ShapeSet::kPublic, {{"n", 8}}, {values, IndexPattern::kUniform}, set});
  const TimedSets sets = lay_out_sets(problems, kernels, 1, 3, InputChange::kRotate);
  const TimingPlan plan =
      make_timing_plan({.problems = problems, .kernels = kernels, .sets = sets, .samples = 4, .seed = 5, .kinds = 4});
  ASSERT_EQ(plan.samples.size(), std::size_t{(4 + kWarmSamples) * 2 * 4 + 8});
  std::map<std::size_t, std::size_t> places;  // by kind: sums, which a drift in time adds to
  for (std::size_t i = 0; i < 16; ++i) {
    const std::vector<std::size_t>& orders = plan.samples[i].orders;
    ASSERT_EQ(orders.size(), 2U);
    EXPECT_EQ(orders[0] / 8, orders[1] / 8) << "of one kernel";
    EXPECT_EQ(orders[0] % 8 / 2, orders[1] % 8 / 2) << "of one kind";
    EXPECT_NE(orders[0], orders[1]);
    places[orders[0] / 2] += i;
  }
  ASSERT_EQ(places.size(), 8U);
  for (const auto& [kind, sum] : places) EXPECT_EQ(sum, 15U) << kind;
  for (std::size_t s = 0; s < 8; ++s)
    EXPECT_EQ(plan.samples[plan.samples.size() - 8 + s].orders, std::vector<std::size_t>{8 + s});
}

/// What a device does that measures two kernels by values.
struct Devices {
  std::int64_t odd = -1;  ///< for this size its clock disagrees with the host's
  double far = 1;         ///< far values take so much longer for the second kernel
  double far_clock = 1;   ///< at so much of the clock rate
  bool counts_energy = false;
};

class FakeDevice final : public Executor {
 public:
  FakeDevice(std::unique_ptr<Executor> host, Devices how, std::size_t kernels)
      : host_(std::move(host)), how_(how), kernels_(kernels) {}
  void run(const RunOrder& order, Arena& arena) override { host_->run(order, arena); }
  SampleTimes time(const TimingPlan& plan, std::size_t sample, Arena& arena) override {
    (void)host_->time(plan, sample, arena);
    const std::size_t num_sets = plan.orders.size() / kernels_, order = plan.samples[sample].orders.front();
    const bool is_start = order / num_sets + 1 < kernels_;
    SampleTimes times{1e-9, 1e-9, plan.reads_clock ? 1e9 : 0};
    if (is_start) times.seconds *= 2;
    if (kernels_ > 2) return times;
    if (order % num_sets >= num_sets - num_sets / 4 && !is_start) {
      times.seconds *= how_.far;
      times.clock *= how_.far_clock;
    }
    if (plan.orders.front().arguments.back().value == how_.odd) times.seconds = 1e3;
    return times;
  }
  void fetch(Placement, Arena&) override {}
  double copy_rate(Arena&, std::size_t, std::size_t) override {
    if (kernels_ == 2) fail(ErrorKind::kInternal, "no ceiling is needed");
    return 1e30;
  }
  double flop_rate(const std::string&) override { return 1e30; }
  double joules(const TimingPlan&, std::size_t, double) override { return 3; }

 private:
  std::unique_ptr<Executor> host_;
  Devices how_;
  std::size_t kernels_;
};

class FakeBackend final : public Backend {
 public:
  FakeBackend(Backend& host, Devices how) : host_(host), how_(how) {}
  BackendKind kind() const override { return BackendKind::kCuda; }
  Machine machine() override { return {.name = "fake", .cache_bytes = 1 << 16}; }
  bool counts_energy() override { return how_.counts_energy; }
  std::variant<Artifact, Finding> compile(const Candidate& candidate, const Case& given) override {
    return host_.compile(candidate, given);
  }
  std::unique_ptr<Executor> make_executor(const std::vector<Artifact>& artifacts, std::size_t bytes) override {
    return std::make_unique<FakeDevice>(host_.make_executor(artifacts, bytes), how_, artifacts.size());
  }
  WorkerLimits limits() const override { return host_.limits(); }
  std::map<std::string, std::string> environment() override { return host_.environment(); }

 private:
  Backend& host_;
  Devices how_;
};

Assessment assessed(Devices how, double energy_seconds = 0) {
  HostBench bench;
  FakeBackend backend(*bench.backend, how);
  Case given = in_small_shapes(as_on_a_device(load_case(cases_folder(), "softsign")));
  std::erase_if(given.shapes, [](const ShapeSpec& shape) { return shape.set == ShapeSet::kPublic; });
  for (const std::int64_t n : {1000, 40000})
    given.shapes.push_back({.set = ShapeSet::kPublic, .dims = {{.name = "n", .low = n, .high = n}}});
  const Candidate start = start_of(given);
  Candidate candidate = start;
  candidate.source += "// another\n";
  return Referee(backend, given, {.samples = 20, .energy_seconds = energy_seconds}).assess(candidate, start, start);
}

TEST(Values, AreComparedOnEveryShapeByFewSamples) {
  const Assessment made = assessed({.counts_energy = true});
  ASSERT_EQ(made.finding.verdict, Verdict::kAccepted) << made.finding.reason;
  ASSERT_EQ(made.timing.shapes.size(), 2U);
  for (const ShapeTimes& times : made.timing.shapes) {
    ASSERT_EQ(times.by_values.size(), std::size(kComparedValues));
    EXPECT_EQ(times.by_values.back().values, "far");
    for (const ValueTimes& one : times.by_values) {
      EXPECT_EQ(one.start.size(), 8U);
      EXPECT_EQ(one.candidate.size(), 8U);
      EXPECT_EQ(one.clock, 1e9);
      EXPECT_DOUBLE_EQ(one.start[0] / one.candidate[0], 2);
    }
    EXPECT_EQ(times.joules, 0) << "nobody asked";
  }
  EXPECT_EQ(assessed({.far = 1.5}).finding.verdict, Verdict::kInputDependent);
  EXPECT_EQ(assessed({.far = 1.15, .far_clock = 0.85}).finding.verdict, Verdict::kAccepted)
      << "the same cycles at another clock: what power does";
  EXPECT_EQ(assessed({.far = 1.5, .far_clock = 0.85}).finding.verdict, Verdict::kInputDependent);
}

TEST(Values, AShapeThatLooksImpossibleEveryTimeIsNotForgotten) {
  const Assessment made = assessed({.odd = 1000});  // of the first shape alone
  EXPECT_EQ(made.finding.verdict, Verdict::kImpossible) << made.finding.reason;
  EXPECT_NE(made.finding.reason.find("n=1000"), std::string::npos) << made.finding.reason;
  EXPECT_TRUE(made.timing.shapes.empty());
}

TEST(Energy, IsMeasuredWhereItIsAskedForAndCounted) {
  EXPECT_EQ(assessed({}, 0.1).timing.shapes.at(0).joules, 0) << "there is no meter";
  const Assessment made = assessed({.counts_energy = true}, 0.1);
  for (const ShapeTimes& times : made.timing.shapes) EXPECT_GT(times.joules, 0);
  EXPECT_EQ(assessed({.far = 1.5, .counts_energy = true}, 0.1).timing.shapes.at(0).joules, 0)
      << "a kernel that is refused";
}

TEST(Energy, AReadingThatFailsIsLeftOut) {
  int reading = 0;
  long runs = 0;
  const auto read = [&]() -> std::optional<double> {
    if (++reading % 3 == 0 || reading < 3) return std::nullopt;
    return 1000 + 0.5 * static_cast<double>(runs / 160 * 160);
  };
  const double joules = joules_of_run(read, 0.02, [&](int count) { runs += count; });
  EXPECT_NEAR(joules, 0.5, 0.1);
  EXPECT_EQ(joules_of_run([] { return std::optional<double>(); }, 0.01, [](int) {}), 0);
}

}  // namespace
}  // namespace salient::workbench::test
