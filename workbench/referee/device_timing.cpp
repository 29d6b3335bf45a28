// workbench/referee/device_timing.cpp - see shape_timing.h: all kernels in one process, by the device's clock.
#include <algorithm>
#include <chrono>
#include <memory>

#include "workbench/referee/judge.h"
#include "workbench/referee/orders.h"
#include "workbench/referee/shape_timing.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kKeptSamples = 6;  // about so many are verified
constexpr double kWallSlack = 1.05, kWallExtra = 200e-6;
constexpr const char* kDeviceClocksDisagree =
    ": the clocks of device and host disagree: another program used the device, or work is hidden from its clock; a "
    "person must look";

/// What a sample left on one of the sets that it ran on.
struct Kept {
  std::size_t sample = 0, set = 0;
  Outputs outputs{};
};

/// What samples of a plan took, as the worker measured it.
class Measured {
 public:
  Measured(const TimingPlan& plan, std::size_t num_sets, std::size_t num_kernels, const SampleTimes* of)
      : plan_(plan), num_sets_(num_sets), num_kernels_(num_kernels), of_(of) {}

  bool is_of_candidate(std::size_t sample) const {
    return sample < num_counted() && kernel_of(sample) + 1 == num_kernels_;
  }

  /// In seconds of one run. The first of each kernel warm up and are dropped.
  void take(ShapeTimes& times) const {
    std::vector<int> seen(num_kernels_);
    for (std::size_t i = 0; i < num_counted(); ++i)
      if (seen[kernel_of(i)]++ >= kWarmSamples)
        samples_of(times, kernel_of(i)).push_back(of_[i].seconds / static_cast<double>(num_sets_));
  }

  /// Likewise of each kind of `times.by_values`, of the start kernel and of the candidate.
  void take_by_kinds(ShapeTimes& times) const {
    const std::size_t num_kinds = times.by_values.size(), of_kind = num_sets_ / num_kinds;
    std::vector<std::vector<int>> seen(num_kernels_, std::vector<int>(num_kinds));
    std::vector<std::vector<double>> clocks(num_kinds);
    for (std::size_t i = 0; i < num_counted(); ++i) {
      const std::size_t kernel = kernel_of(i), kind = plan_.samples[i].orders.front() % num_sets_ / of_kind;
      if (seen[kernel][kind]++ < kWarmSamples) continue;
      ValueTimes& values = times.by_values[kind];
      (kernel == 0 ? values.start : values.candidate).push_back(of_[i].seconds / static_cast<double>(of_kind));
      if (kernel > 0) clocks[kind].push_back(of_[i].clock);
    }
    for (std::size_t kind = 0; kind < num_kinds; ++kind) {
      const bool is_known = *std::min_element(clocks[kind].begin(), clocks[kind].end()) > 0;
      times.by_values[kind].clock = is_known ? spread_of(clocks[kind]).median : 0;
    }
  }

  /// The device claims more time than passed on the host, or the candidate's samples took longer by the host's clock.
  /// @param wall  seconds of all samples, by this process' clock
  bool clocks_disagree(double wall) const {
    double claimed = 0;
    std::vector<double> hidden;
    for (std::size_t i = 0; i < plan_.samples.size(); ++i) {
      claimed += of_[i].seconds;
      if (is_of_candidate(i)) hidden.push_back(of_[i].wall - kWallSlack * of_[i].seconds - kWallExtra);
    }
    return claimed > wall * kWallSlack || (!hidden.empty() && spread_of(hidden).median > 0);
  }

 private:
  std::size_t kernel_of(std::size_t sample) const { return plan_.samples[sample].orders.front() / num_sets_; }
  std::size_t num_counted() const { return plan_.samples.size() - num_sets_; }  // the last are verified alone

  const TimingPlan& plan_;
  std::size_t num_sets_, num_kernels_;
  const SampleTimes* of_;
};

class DeviceRun {
 public:
  DeviceRun(const ShapeSetup& setup, ShapeTimes& times)
      : setup_(setup),
        times_(times),
        sm_(setup.backend.machine().sm),
        sets_(lay_out_sets(setup.problems, setup.kernels, sm_, setup.seed, InputChange::kRotate)),
        plan_(make_timing_plan({.problems = setup.problems,
                                .kernels = setup.kernels,
                                .sets = sets_,
                                .sm = sm_,
                                .samples = setup.samples,
                                .seed = mix(setup.seed),
                                .kinds = std::max<std::size_t>(setup.kinds, 1)})),
        num_samples_(plan_.samples.size()),
        num_sets_(setup.problems.size()),
        arena_(sets_.end),
        results_((num_samples_ + 1) * sizeof(SampleTimes)),
        measured_(reinterpret_cast<SampleTimes*>(results_.data())) {
    plan_.reads_clock = has_kinds();
  }

  std::optional<Finding> run() {
    Worker worker([&] { executor_ = setup_.backend.make_executor(setup_.artifacts, arena_.size()); },
                  [&](std::size_t step) { serve(step); }, setup_.backend.limits());
    prepare_sets(setup_.problems, sets_, arena_);
    Reply reply = worker.wait_until_ready(60);
    std::unique_ptr<DeviceTurn> turn = setup_.backend.turn(DeviceTurn::Kind::kExclusive);
    const auto measure_ceilings = [&] {
      if (reply.kind == Reply::Kind::kOk && !has_kinds()) reply = worker.run(ceilings_step(), 60);
    };
    measure_ceilings();
    if (reply.kind == Reply::Kind::kOk) reply = run_samples(worker);
    if (reply.kind == Reply::Kind::kOk) reply = worker.run(everything_step(), 60);
    const auto wrong = reply.kind == Reply::Kind::kOk ? judge() : std::nullopt;
    measure_ceilings();  // once more: one that was disturbed counts less
    turn.reset();
    if (reply.kind != Reply::Kind::kOk) return finding_while_timed(reply);
    if (has_kinds()) {
      samples().take_by_kinds(times_);
    } else {
      times_.copy_rate = measured_[num_samples_].seconds;
      times_.flop_rate = measured_[num_samples_].wall;
      samples().take(times_);
    }
    if (samples().clocks_disagree(wall_))
      return Finding{Verdict::kImpossible, times_.shape + kDeviceClocksDisagree, {}};
    if (wrong) return Finding{wrong->verdict, wrong->reason + ", while it was timed", {}};
    return std::nullopt;
  }

 private:
  bool has_kinds() const { return setup_.kinds > 0; }
  Measured samples() const { return {plan_, num_sets_, setup_.kernels.size(), measured_}; }

  // Steps of the worker: the samples, then the outputs of a set, all memory, and the ceilings.
  std::size_t outputs_step(std::size_t set) const { return num_samples_ + set; }
  std::size_t everything_step() const { return num_samples_ + num_sets_; }
  std::size_t ceilings_step() const { return num_samples_ + num_sets_ + 1; }

  void serve(std::size_t step) {
    if (step < num_samples_) {
      measured_[step] = executor_->time(plan_, step, arena_);
    } else if (step < everything_step()) {
      for (const Placement& output : outputs_of(step - num_samples_)) executor_->fetch(output, arena_);
    } else if (step == everything_step()) {
      executor_->fetch({0, arena_.size()}, arena_);
    } else {
      SampleTimes& rates = measured_[num_samples_];
      const double copy = executor_->copy_rate(arena_, sets_.layouts.back().end, setup_.problems[0].total_bytes());
      rates.seconds = std::max(rates.seconds, copy);
      rates.wall = std::max(rates.wall, executor_->flop_rate(setup_.given.ceiling));
    }
  }

  std::vector<Placement> outputs_of(std::size_t set) const {
    std::vector<Placement> outputs;
    for (std::size_t b = 0; b < setup_.problems[set].num_buffers(); ++b)
      if (setup_.given.buffers[b].role != BufferRole::kIn)
        outputs.push_back({sets_.layouts[set].buffers[b].offset, setup_.problems[set].bytes(b)});
    return outputs;
  }

  /// One by one. After a sample of the candidate it is drawn whether, and on which set, it is verified.
  Reply run_samples(Worker& worker) {
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    const auto of_candidate = static_cast<std::uint64_t>(kWarmSamples + setup_.samples);
    Reply reply;
    for (std::size_t i = 0; i < num_samples_ && reply.kind == Reply::Kind::kOk; ++i) {
      const double before = seconds();
      reply = worker.run(i, std::max(setup_.limit - before, 0.0));
      wall_ += seconds() - before;
      if (reply.kind != Reply::Kind::kOk || !samples().is_of_candidate(i) || kept_.size() == kKeptSamples ||
          has_kinds())
        continue;
      const std::uint64_t drawn = seed_from_system();
      if (drawn % of_candidate >= kKeptSamples) continue;
      const std::size_t set = mix(drawn) % num_sets_;
      reply = worker.run(outputs_step(set), std::max(setup_.limit - seconds(), 0.0));
      if (reply.kind == Reply::Kind::kOk)
        kept_.push_back({i, set, copy_outputs(setup_.problems[set], sets_.layouts[set], arena_)});
    }
    return reply;
  }

  Problem problem_of(std::size_t sample, std::size_t set) const {
    const TimedSample& one = plan_.samples[sample];
    const auto at = std::find_if(one.orders.begin(), one.orders.end(),
                                 [&](std::size_t order) { return order % num_sets_ == set; }) -
                    one.orders.begin();
    return problem_with(setup_.problems[set], one.inputs[static_cast<std::size_t>(at)], InputChange::kRotate);
  }

  /// What the candidate left at the end on every set, and in the samples that were kept.
  std::optional<Finding> judge() const {
    const std::size_t step = has_kinds() ? num_sets_ / setup_.kinds : 1;
    for (std::size_t from = 0; from < num_sets_; from += step) {
      const std::size_t s = from + seed_from_system() % step;
      const Problem problem = problem_of(num_samples_ - num_sets_ + s, s);
      const Layout& layout = sets_.layouts[s];
      if (auto found = judge_bounds(problem, layout, kDirt[0].guard, arena_)) return found;
      if (auto found = judge_numbers(problem, copy_outputs(problem, layout, arena_), seed_from_system())) return found;
    }
    for (const Kept& one : kept_)
      if (auto found = judge_numbers(problem_of(one.sample, one.set), one.outputs, seed_from_system())) return found;
    return std::nullopt;
  }

  const ShapeSetup& setup_;
  ShapeTimes& times_;
  std::int64_t sm_;
  TimedSets sets_;
  TimingPlan plan_;
  std::size_t num_samples_, num_sets_;
  Arena arena_, results_;
  SampleTimes* measured_;  ///< per sample; then the rates of copies and of arithmetic
  std::unique_ptr<Executor> executor_{};
  std::vector<Kept> kept_{};
  double wall_ = 0;  ///< seconds of all samples, by this process' clock
};

}  // namespace

std::optional<Finding> time_on_device(const ShapeSetup& setup, ShapeTimes& times) {
  return DeviceRun(setup, times).run();
}

}  // namespace salient::workbench
