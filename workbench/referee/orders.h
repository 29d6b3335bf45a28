// workbench/referee/orders.h - a candidate on a problem, as numbers that a worker can run.
#pragma once

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
  kRefill,  ///< made anew; for memory that the worker writes itself
  kRotate,  ///< every buffer but row offsets by a distance of its own, by copies within the device's memory
};
/// Inputs of a set as a sample has them. @param inputs  of TimedSample; 0 = those of `first`
Problem problem_with(const Problem& first, std::uint64_t inputs, InputChange how);

inline constexpr std::size_t kKeptSamples = 6;

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

struct TimingSetup {
  const std::vector<Problem>& problems;  ///< one per set
  const std::vector<const Candidate*>& kernels;
  const TimedSets& sets;
  InputChange change = InputChange::kRefill;
  std::int64_t sm = 1;
  int samples = 20;
  std::size_t batch = 1;   ///< runs of a sample
  std::uint64_t seed = 0;  ///< of all changes of inputs, and of what is kept
};

/// Orders for every kernel on every set (kernel-major), and ABBA samples: `warm` + `samples` per kernel, then the last
/// kernel once on every set. No inputs are used twice. What the last kernel leaves can be verified: up to kKeptSamples
/// of its timed samples, drawn by the seed, behind each of which a range ends, and the runs at the end, the last range.
struct VerifiedPlan {
  TimingPlan plan{};
  std::vector<SampleRange> ranges{};
};
VerifiedPlan make_timing_plan(const TimingSetup& setup);

/// After a sample: the sets that it used get the inputs of the sample that uses them next. Of kRefill.
void refill_after(std::size_t sample, const TimingSetup& setup, const TimingPlan& plan, Arena& arena);

inline constexpr int kWarmSamples = 2;

}  // namespace salient::workbench
