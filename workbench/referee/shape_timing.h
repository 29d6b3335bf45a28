// workbench/referee/shape_timing.h - start, best and candidate side by side on one public shape.
#pragma once

#include <optional>
#include <vector>

#include "workbench/backend/backend.h"
#include "workbench/case/problem.h"
#include "workbench/referee/timing.h"

namespace salient::workbench {

struct ShapeSetup {
  Backend& backend;
  const Case& given;
  const std::vector<const Candidate*>& kernels;  ///< start, best, best again, candidate; of kinds: start, candidate
  const std::vector<Artifact>& artifacts;        ///< theirs
  const std::vector<Problem>& problems;          ///< input sets; kTimedPatterns in turns
  int samples = 20;                              ///< per kernel
  double limit = 300;                            ///< seconds, of all runs together
  std::uint64_t seed = 0;
  std::size_t kinds = 0;      ///< of time_on_device: the problems are of so many kinds of values; see there
  double energy_seconds = 0;  ///< for which start and candidate run, each, where a device counts energy
};

/// Where kernels are host code: each in a process and in memory of its own, by the clock that the kernel of the
/// operating system keeps of that process. Inputs are made anew every round. All that the candidate wrote in a sample
/// is verified, so that no sample differs from another.
///
/// @param times  gets samples and ceilings   @return  what speaks against the candidate, or nothing
std::optional<Finding> time_in_processes(const ShapeSetup& setup, ShapeTimes& times);

/// Where kernels are device code, which reaches no clock and no memory of the host: in one process, by the device's
/// clock. What is verified is drawn after the sample has run: some samples' outputs of one input set, then what the
/// last runs left on all sets. Of kinds of values `times.by_values`, which has them all, gets samples, in turns, and no
/// ceilings are measured; then what the last runs left is verified on a set of each.
std::optional<Finding> time_on_device(const ShapeSetup& setup, ShapeTimes& times);

/// Joules of a run of start and candidate, by the device's own counter: both run for `energy_seconds`, one after the
/// other. Zeros where nothing counts them.
std::optional<Finding> measure_energy(const ShapeSetup& setup, ShapeTimes& times);

/// The samples of kernel k of a setup.
inline std::vector<double>& samples_of(ShapeTimes& times, std::size_t k) {
  std::vector<double>* const lists[] = {&times.start, &times.best, &times.best_again, &times.candidate};
  return *lists[k];
}

/// Of a worker that did not answer well while kernels were timed. @throws Error for what is no fault of the candidate
Finding finding_while_timed(const Reply& reply);

}  // namespace salient::workbench
