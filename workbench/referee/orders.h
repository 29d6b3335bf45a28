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

/// Several input sets with all that is needed to time kernels on them, one after the other in memory.
struct TimedSets {
  std::vector<Layout> layouts{};                   ///< per set; scratch is as large as the most demanding kernel's
  std::vector<std::vector<Placement>> pristine{};  ///< per set: copies of the buffers that are updated in place
  std::size_t end = 0;
};
TimedSets lay_out_sets(const std::vector<Problem>& problems, const std::vector<const Candidate*>& kernels,
                       std::int64_t sm, std::uint64_t seed);

/// Fills all sets.
void prepare_sets(const std::vector<Problem>& problems, const TimedSets& sets, Arena& arena);

/// Orders for every kernel on every set (kernel-major), and ABBA samples: `warm` + `samples` per kernel, then the last
/// kernel once
/// on every set, so that what it leaves can be verified.
/// Seven parameters: all of them belong to the one call that there is.
TimingPlan make_timing_plan(const std::vector<Problem>& problems, const std::vector<const Candidate*>& kernels,
                            const std::vector<std::size_t>& artifacts, const TimedSets& sets, std::int64_t sm,
                            int samples, std::size_t batch);

inline constexpr int kWarmSamples = 2;

}  // namespace salient::workbench
