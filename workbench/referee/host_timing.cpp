// workbench/referee/host_timing.cpp - see shape_timing.h: every kernel in a process of its own.
#include <algorithm>
#include <memory>
#include <utility>

#include "workbench/referee/judge.h"
#include "workbench/referee/orders.h"
#include "workbench/referee/process_clock.h"
#include "workbench/referee/shape_timing.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kHalves = 2;  // of a round; each kernel has a sample in each, on input sets of its own
constexpr const char* kClocksDisagree = ": the clocks of process and host disagree: ";

/// A kernel in a process with memory of its own.
class Lane {
 public:
  Lane(const ShapeSetup& setup, std::size_t k)
      : setup_(setup),
        kernels_{setup.kernels[k]},
        sets_(lay_out_sets(setup.problems, kernels_, 1, mix(setup.seed + k), InputChange::kRefill)),
        arena_(sets_.end),
        ceilings_(2 * sizeof(double)) {
    for (std::size_t s = 0; s < setup.problems.size(); ++s) {
      const ProblemSize size{setup.given, setup.problems[s].spec().dims};
      plan_.orders.push_back(make_order(size, *kernels_[0], sets_.layouts[s], 0, 1));
    }
    plan_.samples.resize(kHalves);
    for (std::size_t s = 0; s < setup.problems.size(); ++s) plan_.samples[s / kNumTimedPatterns].orders.push_back(s);
    worker_ = std::make_unique<Worker>(
        [this, k] {
          arena_.touch();
          executor_ = setup_.backend.make_executor({setup_.artifacts[k]}, arena_.size());
        },
        [this](std::size_t step) {
          if (step < kHalves) return (void)executor_->time(plan_, step, arena_);
          measure_ceilings();
        },
        setup.backend.limits());
    clock_ = ProcessClock(worker_->process());
    arena_.keep_from_forks();  // of other lanes
    ceilings_.keep_from_forks();
  }

  Reply wait_until_ready() {
    const Reply reply = worker_->wait_until_ready(60);
    taken_ = clock_.read();
    return reply;
  }

  void prepare(std::size_t set, const Problem& problem) {
    prepare_arena(problem, sets_.layouts[set], kDirt[0], arena_);
  }

  /// A sample: one run on every set of a half. @return  the answer, after `seconds`
  Reply run(std::size_t half, double limit, double& seconds) {
    const ProcessTimes before = clock_.read();
    const Reply reply = worker_->run(half, limit);
    const ProcessTimes after = clock_.read();
    seconds = after.wall - before.wall;
    const double away = seconds - (after.cpu - before.cpu) - (after.queued - before.queued);
    usages_.push_back({.away = away, .threads = std::max(before.threads, after.threads)});
    return reply;
  }

  /// The runs of the first half, as a sample to the kernel, but not counted as one.
  Reply run_uncounted(double limit) {
    const Reply reply = worker_->run(0, limit);
    taken_ = clock_.read();
    return reply;
  }

  /// Ends the sample, once its outputs were taken: what is done later is no use. @return  seconds of CPU time
  double end_sample() {
    const ProcessTimes now = clock_.read();
    usages_.back().cpu = now.cpu - taken_.cpu;
    usages_.back().waits = now.waits - taken_.waits;
    taken_ = now;
    return usages_.back().cpu;
  }

  std::optional<Finding> judge(std::size_t set, const Problem& problem, const Outputs& outputs) const {
    if (auto found = judge_bounds(problem, sets_.layouts[set], kDirt[0].guard, arena_)) return found;
    return judge_numbers(problem, outputs, seed_from_system());
  }
  Outputs outputs(std::size_t set, const Problem& problem) const {
    return copy_outputs(problem, sets_.layouts[set], arena_);
  }

  Reply ask_for_ceilings(ShapeTimes& times) {
    const Reply reply = worker_->run(kHalves, 60);
    const auto* const measured = reinterpret_cast<const double*>(ceilings_.data());
    times.copy_rate = std::max(times.copy_rate, measured[0]);
    times.flop_rate = std::max(times.flop_rate, measured[1]);
    taken_ = clock_.read();
    return reply;
  }

  const std::vector<Usage>& usages() const { return usages_; }

 private:
  void measure_ceilings() {
    auto* const measured = reinterpret_cast<double*>(ceilings_.data());
    measured[0] = executor_->copy_rate(arena_, sets_.layouts.back().end, setup_.problems[0].total_bytes());
    measured[1] = executor_->flop_rate(setup_.given.ceiling);
  }

  const ShapeSetup& setup_;
  std::vector<const Candidate*> kernels_;
  TimedSets sets_;
  Arena arena_, ceilings_;
  TimingPlan plan_{};
  std::unique_ptr<Executor> executor_{};
  std::unique_ptr<Worker> worker_{};
  ProcessClock clock_{0};
  ProcessTimes taken_{};  ///< when the last sample ended
  std::vector<Usage> usages_{};
};

class Rounds {
 public:
  Rounds(const ShapeSetup& setup, ShapeTimes& times) : setup_(setup), times_(times) {
    for (std::size_t k = 0; k < setup.kernels.size(); ++k) lanes_.push_back(std::make_unique<Lane>(setup, k));
  }

  std::optional<Finding> run() {
    for (const std::unique_ptr<Lane>& lane : lanes_)
      if (const Reply ready = lane->wait_until_ready(); ready.kind != Reply::Kind::kOk)
        return finding_while_timed(ready);
    if (auto found = ceilings()) return found;
    for (int round = 0; round < (kWarmSamples + setup_.samples) / 2; ++round) {
      if (auto found = uncounted(round)) return found;
      if (auto found = one(round)) return found;
    }
    if (auto found = ceilings()) return found;  // once more: one that was disturbed counts less
    return hidden();
  }

 private:
  std::optional<Finding> ceilings() {
    const Reply reply = lanes_.front()->ask_for_ceilings(times_);  // of the start kernel
    return reply.kind == Reply::Kind::kOk ? std::nullopt : std::optional(finding_while_timed(reply));
  }

  /// Fresh inputs for all, a sample of each kernel, and once more in reverse order; then the candidate's are verified.
  std::optional<Finding> one(int round) {
    const std::size_t num_sets = setup_.problems.size();
    std::vector<Problem> problems;
    for (std::size_t s = 0; s < num_sets; ++s) {
      ProblemSpec spec = setup_.problems[s].spec();
      spec.seed = mix(setup_.seed ^ mix(static_cast<std::uint64_t>(round) * num_sets + s + 1)) >> 1;
      problems.emplace_back(setup_.given, spec);
      for (const std::unique_ptr<Lane>& lane : lanes_) lane->prepare(s, problems.back());
    }
    std::vector<Outputs> outputs;
    const std::vector<std::size_t> order = order_of_round(lanes_.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t half = i / lanes_.size();
      Lane& lane = *lanes_[order[i]];
      double seconds = 0;
      const Reply reply = lane.run(half, setup_.limit - spent_, seconds);
      if (reply.kind != Reply::Kind::kOk) return finding_while_timed(reply);
      spent_ += seconds;
      const bool is_candidate = &lane == lanes_.back().get();
      for (std::size_t s = half * kNumTimedPatterns; is_candidate && s < (half + 1) * kNumTimedPatterns; ++s)
        outputs.push_back(lane.outputs(s, problems[s]));
      const double used = lane.end_sample();
      if (2 * round + static_cast<int>(half) >= kWarmSamples)
        samples_of(times_, order[i]).push_back(used / double{kNumTimedPatterns});
    }
    for (std::size_t s = 0; s < num_sets; ++s)
      if (auto found = lanes_.back()->judge(s, problems[s], outputs[s]))
        return Finding{found->verdict, found->reason + ", while it was timed", {}};
    return std::nullopt;
  }

  /// Before every second round, as it is drawn: the candidate runs on what is else checked, not timed. It cannot know,
  /// so that what is right in a check alone, by the order of blocks or by what memory keeps, shows.
  std::optional<Finding> uncounted(int round) {
    const std::uint64_t random = mix(~setup_.seed ^ mix(static_cast<std::uint64_t>(round)));
    if (random % 2 == 0) return std::nullopt;
    const std::vector<Pattern> patterns = draw_patterns(setup_.given, mix(random) >> 1);
    Lane& lane = *lanes_.back();
    std::vector<Problem> problems;
    for (std::size_t s = 0; s < kNumTimedPatterns; ++s) {
      ProblemSpec spec = setup_.problems[s].spec();
      spec.pattern = patterns[(random / 2 + s) % patterns.size()];
      spec.seed = mix(random + s + 1) >> 1;
      problems.emplace_back(setup_.given, spec);
      lane.prepare(s, problems.back());
    }
    const Reply reply = lane.run_uncounted(setup_.limit - spent_);
    if (reply.kind != Reply::Kind::kOk) return finding_while_timed(reply);
    for (std::size_t s = 0; s < problems.size(); ++s)
      if (auto found = lane.judge(s, problems[s], lane.outputs(s, problems[s])))
        return Finding{found->verdict, found->reason + ", among timed runs", {}};
    return std::nullopt;
  }

  std::optional<Finding> hidden() {
    std::vector<Usage> of_best;
    for (std::size_t k = 1; k + 1 < lanes_.size(); ++k)
      of_best.insert(of_best.end(), lanes_[k]->usages().begin(), lanes_[k]->usages().end());
    const std::string why = hidden_work(lanes_.back()->usages(), of_best);
    if (why.empty()) return std::nullopt;
    return Finding{Verdict::kImpossible, times_.shape + kClocksDisagree + why + "; a person must look", {}};
  }

  const ShapeSetup& setup_;
  ShapeTimes& times_;
  std::vector<std::unique_ptr<Lane>> lanes_{};
  double spent_ = 0;
};

}  // namespace

std::optional<Finding> time_in_processes(const ShapeSetup& setup, ShapeTimes& times) {
  return Rounds(setup, times).run();
}

}  // namespace salient::workbench
