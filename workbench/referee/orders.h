// workbench/referee/orders.h - a candidate on a problem, as numbers that a worker can run.
#pragma once

#include <iterator>

#include "workbench/backend/backend.h"
#include "workbench/case/problem.h"

namespace salient::workbench {

/// A case and its sizes, without inputs.
struct ProblemSize {
  const Case& given;
  const Variables& dims;
};

/// Bytes of each parameter that is memory: the case's buffers, then scratch.
std::vector<std::size_t> buffer_bytes(const ProblemSize& problem, const Candidate& candidate, std::int64_t sm);

/// @throws Error{kBadData} if the candidate's expressions cannot be launched for this shape
RunOrder make_order(const ProblemSize& problem, const Candidate& candidate, const Layout& layout, std::size_t artifact,
                    std::int64_t sm);

/// How the inputs of a set change between timed samples, so that results of earlier ones are wrong.
enum class InputChange {
  kRefill,  ///< made anew by the referee, which shares the memory
  kRotate,  ///< every buffer but row offsets by a distance of its own, by copies within the device's memory
};
/// Inputs of a set as a sample has them. @param inputs  of TimedSample; 0 = those of `first`
Problem problem_with(const Problem& first, std::uint64_t inputs, InputChange how);

/// What kernels are timed on: each sample is one run on each, so that no pattern decides alone. Equal, extreme and
/// non-finite inputs are checked, not timed: a kernel is not chosen for them.
inline constexpr Pattern kTimedPatterns[] = {{ValuePattern::kZeroMean, IndexPattern::kUniform},
                                             {ValuePattern::kWide, IndexPattern::kPowerLaw},
                                             {ValuePattern::kPositive, IndexPattern::kSorted}};
inline constexpr std::size_t kNumTimedPatterns = std::size(kTimedPatterns);

/// Whether times depend on values is asked of these, in turns, with the same indices; the last one is not among those
/// that are timed.
inline constexpr ValuePattern kComparedValues[] = {ValuePattern::kZeroMean, ValuePattern::kWide,
                                                   ValuePattern::kPositive, ValuePattern::kFar};

/// Several input sets with all that is needed to time kernels on them, one after the other in memory.
struct TimedSets {
  std::vector<Layout> layouts{};                   ///< per set; scratch is as large as the most demanding kernel's
  std::vector<std::vector<Placement>> pristine{};  ///< per set, of kRotate: copies of its inputs
  std::size_t end = 0;
};
TimedSets lay_out_sets(const std::vector<Problem>& problems, const std::vector<const Candidate*>& kernels,
                       std::int64_t sm, std::uint64_t seed, InputChange how);

/// Fills all sets.
void prepare_sets(const std::vector<Problem>& problems, const TimedSets& sets, Arena& arena);

inline constexpr int kWarmSamples = 2;  ///< of every kernel, before those that count

struct TimingSetup {
  const std::vector<Problem>& problems;  ///< one per set
  const std::vector<const Candidate*>& kernels;
  const TimedSets& sets;
  std::int64_t sm = 1;
  int samples = 20;
  std::uint64_t seed = 0;  ///< of all changes of inputs
  std::size_t kinds = 1;   ///< the sets are of so many kinds, equally many each, one kind after the other
};

/// Orders for every kernel on every set (kernel-major), and samples in the order ABBA: kWarmSamples + `samples` per
/// kernel and kind, each on every set of a kind, then the last kernel once on every set. Kinds take turns as kernels
/// do, so that no drift of the device's clock or temperature speaks for one. Inputs change by kRotate, none are used
/// twice.
TimingPlan make_timing_plan(const TimingSetup& setup);

/// Indices of the kernels of two samples each, as they are run: ABBA.
std::vector<std::size_t> order_of_round(std::size_t num_kernels);

}  // namespace salient::workbench
