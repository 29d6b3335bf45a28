// workbench/referee/timed_shapes.cpp - times a candidate beside start and best on every public shape; see referee.h.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "workbench/referee/judge.h"
#include "workbench/referee/orders.h"
#include "workbench/referee/referee.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kKernels = 4;  // start, best, best again, candidate
constexpr std::size_t kMaxSets = 12, kMaxBytes = std::size_t{2} << 30;
constexpr int kAttempts = 3;
constexpr double kWallSlack = 1.05, kWallExtra = 200e-6;
constexpr const char* kClocksDisagree =
    ": the clocks of device and host disagree: another program used the device, or work is hidden from its clock; a "
    "person must look";

/// As many input sets as fill four times the cache, at least two.
std::vector<Problem> make_sets(const Case& given, const Variables& dims, std::size_t cache_bytes, std::uint64_t seed) {
  std::vector<Problem> problems;
  std::size_t total = 0;
  for (std::size_t s = 0; s < kMaxSets; ++s) {
    problems.emplace_back(given, ProblemSpec{ShapeSet::kPublic, dims, {}, mix(seed + s) >> 1});
    total += problems.back().total_bytes();
    if (s > 0 && (total > 4 * cache_bytes || total > kMaxBytes)) break;
  }
  return problems;
}

ShapeTimes without_times(const Case& given, const Variables& dims, const Problem& problem) {
  return {.shape = text_of(dims),
          .bytes = static_cast<double>(evaluate(given.bytes, with_distinct(problem))),
          .flops = static_cast<double>(evaluate(given.flops, dims))};
}

double floor_of(const ShapeTimes& times) {
  return std::max(times.copy_rate > 0 ? times.bytes / times.copy_rate : 0,
                  times.flop_rate > 0 ? times.flops / times.flop_rate : 0);
}

/// Sorts the samples by kernel, in seconds of one run. The first of each kernel warm up and are dropped.
void take_samples(const TimingPlan& plan, const SampleTimes* measured, std::size_t num_sets, ShapeTimes& times) {
  std::vector<double>* const of_kernel[kKernels] = {&times.start, &times.best, &times.best_again, &times.candidate};
  std::size_t seen[kKernels] = {};
  for (std::size_t i = 0; i + num_sets < plan.samples.size(); ++i) {
    const std::size_t kernel = plan.samples[i].orders.front() / num_sets;
    if (seen[kernel]++ < static_cast<std::size_t>(kWarmSamples)) continue;
    of_kernel[kernel]->push_back(measured[i].seconds / static_cast<double>(plan.samples[i].orders.size()));
  }
}

/// Work that the device's clock did not see: the candidate's samples took longer by the host's clock.
bool hides_work(const TimingPlan& plan, const SampleTimes* measured, std::size_t num_sets) {
  std::vector<double> hidden;
  for (std::size_t i = 0; i + num_sets < plan.samples.size(); ++i)
    if (plan.samples[i].orders.front() / num_sets == kKernels - 1)
      hidden.push_back(measured[i].wall - kWallSlack * measured[i].seconds - kWallExtra);
  return !hidden.empty() && spread_of(hidden).median > 0;
}

/// The device claims more time than passed on the host, or the candidate hides work from it.
bool clocks_disagree(const TimingPlan& plan, const SampleTimes* measured, std::size_t num_sets, double wall) {
  double claimed = 0;
  for (std::size_t i = 0; i < plan.samples.size(); ++i) claimed += measured[i].seconds;
  return claimed > wall * kWallSlack || hides_work(plan, measured, num_sets);
}

/// What a sample left in the last set that it ran on, as the arena has it now.
Outputs outputs_of(const TimingSetup& setup, const TimedSample& sample, const Arena& arena) {
  const std::size_t set = sample.orders.back() % setup.problems.size();
  return copy_outputs(setup.problems[set], setup.sets.layouts[set], arena);
}

/// What the candidate left at the end on every set, and in the samples that were kept. Rows are drawn by the seed.
/// @param kept  per range but the last one: outputs of its last sample
std::optional<Finding> judge_left_outputs(const TimingSetup& setup, const VerifiedPlan& made,
                                          const std::vector<Outputs>& kept, const Arena& arena) {
  const std::size_t num_sets = setup.problems.size(), first_left = made.plan.samples.size() - num_sets;
  const auto inputs_of = [&](std::size_t sample) {
    const TimedSample& one = made.plan.samples[sample];
    return problem_with(setup.problems[one.orders.back() % num_sets], one.inputs.back(), setup.change);
  };
  for (std::size_t s = 0; s < num_sets; ++s) {
    const Problem problem = inputs_of(first_left + s);
    const Layout& layout = setup.sets.layouts[s];
    if (auto found = judge_bounds(problem, layout, arena)) return found;
    if (auto found = judge_numbers(problem, copy_outputs(problem, layout, arena), mix(setup.seed ^ s))) return found;
  }
  for (std::size_t k = 0; k < kept.size(); ++k)
    if (auto found = judge_numbers(inputs_of(made.ranges[k].end - 1), kept[k], mix(setup.seed - k - 1))) return found;
  return std::nullopt;
}

struct TimedRanges {
  Reply reply{};
  std::vector<Outputs> kept{};  ///< per range but the last one: outputs of its last sample
  double wall = 0;              ///< by this process' clock

  bool is_ok() const { return reply.kind == Reply::Kind::kOk; }
};

/// Steps 0, 1, ... of the worker time the ranges. What a range leaves is copied before the candidate runs again.
/// @param ready  of the worker; ranges are timed if it is well
TimedRanges time_ranges(Worker& worker, const Reply& ready, const TimingSetup& setup, const VerifiedPlan& made,
                        const Arena& arena, double limit) {
  TimedRanges timed{.reply = ready};
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  for (std::size_t r = 0; r < made.ranges.size() && timed.is_ok(); ++r) {
    timed.reply = worker.run(r, std::max(limit - seconds(), 0.0));
    if (timed.is_ok() && r + 1 < made.ranges.size())
      timed.kept.push_back(outputs_of(setup, made.plan.samples[made.ranges[r].end - 1], arena));
  }
  timed.wall = seconds();
  return timed;
}

/// Of a worker that did not come to the end. @throws Error for what is no fault of the candidate
Finding finding_of(const Reply& reply) {
  if (reply.kind == Reply::Kind::kError && reply.error != ErrorKind::kInternal) fail(reply.error, reply.text);
  return {reply.kind == Reply::Kind::kTimeout ? Verdict::kTimeout : Verdict::kRuntimeError,
          reply.text + " while it was timed",
          {}};
}

}  // namespace

Timing Referee::time(const Candidate& candidate, const Candidate& start, const Candidate& best, std::uint64_t seed,
                     Finding& finding) {
  const std::vector<const Candidate*> kernels = {&start, &best, &best, &candidate};
  std::vector<Artifact> artifacts;
  for (const Candidate* kernel : kernels) {
    std::variant<Artifact, Finding> compiled = backend_.compile(*kernel, case_);
    if (auto* rejected = std::get_if<Finding>(&compiled)) {
      finding = std::move(*rejected);
      return {};
    }
    artifacts.push_back(std::get<Artifact>(compiled));
  }
  return time_shapes(kernels, artifacts, seed, finding);
}

Timing Referee::time_shapes(const std::vector<const Candidate*>& kernels, const std::vector<Artifact>& artifacts,
                            std::uint64_t seed, Finding& finding) {
  Timing timing;
  for (const Variables& dims : public_shapes(case_, backend_.kind())) {
    ShapeTimes times;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {  // what looks impossible is measured again
      finding = {};
      const ShapeTimes before = std::exchange(
          times, time_shape(dims, kernels, artifacts,
                            mix(seed ^ timing.shapes.size()) + static_cast<std::uint64_t>(attempt), finding));
      times.copy_rate = std::max(times.copy_rate, before.copy_rate);  // a rate that was seen once is possible
      times.flop_rate = std::max(times.flop_rate, before.flop_rate);
      times.floor = floor_of(times);
      const Verdict verdict = finding.verdict == Verdict::kAccepted ? decide({{times}}).verdict : finding.verdict;
      if (verdict != Verdict::kImpossible) break;
    }
    if (finding.verdict != Verdict::kAccepted) return {};
    timing.shapes.push_back(std::move(times));
  }
  return timing;
}

ShapeTimes Referee::time_shape(const Variables& dims, const std::vector<const Candidate*>& kernels,
                               const std::vector<Artifact>& artifacts, std::uint64_t seed, Finding& finding) {
  const Machine machine = backend_.machine();
  const std::vector<Problem> problems = make_sets(case_, dims, machine.cache_bytes, seed);
  const bool is_host = backend_.kind() == BackendKind::kHost;
  const InputChange change = is_host ? InputChange::kRefill : InputChange::kRotate;
  const TimedSets sets = lay_out_sets(problems, kernels, machine.sm, seed, change);
  ShapeTimes times = without_times(case_, dims, problems.front());
  const TimingSetup setup{.problems = problems,
                          .kernels = kernels,
                          .sets = sets,
                          .change = change,
                          .sm = machine.sm,
                          .samples = options_.samples,
                          .batch = is_host ? 1 : problems.size(),
                          .seed = mix(seed)};
  VerifiedPlan made = make_timing_plan(setup);
  TimingPlan& plan = made.plan;
  const std::size_t num_samples = plan.samples.size();
  Arena arena(sets.end), results((num_samples + 2) * sizeof(SampleTimes));
  auto* const measured = reinterpret_cast<SampleTimes*>(results.data());
  if (is_host) plan.change_inputs = [&](std::size_t sample) { refill_after(sample, setup, plan, arena); };
  std::unique_ptr<Executor> executor;
  const auto measure_ceilings = [&] {
    const double copy = executor->copy_rate(arena, sets.layouts.back().end, problems[0].total_bytes());
    measured[num_samples].seconds = std::max(measured[num_samples].seconds, copy);
    measured[num_samples + 1].seconds = std::max(measured[num_samples + 1].seconds, executor->flop_rate(case_.ceiling));
  };
  const std::size_t num_ranges = made.ranges.size();
  const auto get_ready = [&] {
    make_problems_by_one_thread();  // between samples
    executor = backend_.make_executor(artifacts, arena.size());
  };
  const auto serve = [&](std::size_t step) {
    step < num_ranges ? executor->time(plan, made.ranges[step], arena, measured) : measure_ceilings();
  };
  Worker worker(get_ready, serve, backend_.limits());
  prepare_sets(problems, sets, arena);
  const Reply ready = worker.wait_until_ready(60);
  std::unique_ptr<DeviceTurn> turn = backend_.turn(DeviceTurn::Kind::kExclusive);
  const Reply warm = ready.kind == Reply::Kind::kOk ? worker.run(num_ranges, 60) : ready;
  if (is_host) prepare_sets(problems, sets, arena);  // the copies were made in place
  TimedRanges timed = time_ranges(worker, warm, setup, made, arena, options_.timing_seconds);
  const auto wrong = timed.is_ok() ? judge_left_outputs(setup, made, timed.kept, arena) : std::nullopt;
  // Once more, behind the results, which the host's copies overwrite: a ceiling that was disturbed counts less.
  if (timed.is_ok()) timed.reply = worker.run(num_ranges, 60);
  turn.reset();
  if (!timed.is_ok()) {
    finding = finding_of(timed.reply);
    return times;
  }
  times.copy_rate = measured[num_samples].seconds;
  times.flop_rate = measured[num_samples + 1].seconds;
  take_samples(plan, measured, problems.size(), times);
  if (clocks_disagree(plan, measured, problems.size(), timed.wall))
    finding = {Verdict::kImpossible, times.shape + kClocksDisagree};
  else if (wrong)
    finding = {wrong->verdict, wrong->reason + ", while it was timed"};
  return times;
}

}  // namespace salient::workbench
