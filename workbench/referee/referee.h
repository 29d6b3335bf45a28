// workbench/referee/referee.h - judges candidates: gate, compiler, correctness on many inputs, time beside the best.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workbench/backend/backend.h"
#include "workbench/case/problem.h"
#include "workbench/referee/arena.h"
#include "workbench/referee/candidate.h"
#include "workbench/referee/problems.h"
#include "workbench/referee/timing.h"
#include "workbench/referee/verdict.h"

namespace salient::workbench {

struct RefereeOptions {
  double run_seconds = 20;      ///< limit of one run of a candidate
  double timing_seconds = 300;  ///< limit of the timing of one shape
  int samples = 20;             ///< per kernel and shape, an even number
  std::uint64_t seed = 0;       ///< of inputs and layouts; 0 = fresh from the operating system for every check
  MoreTests more{};
  bool all_remainders = false;  ///< checks run problems_of_all_remainders(), too
  double energy_seconds = 0;  ///< for which a correct kernel runs to measure energy, where a device counts it; 0 = not
  bool profiles = false;      ///< a correct candidate's notes begin with what the back end's profiler says
};

/// What is known of a candidate after it was judged.
struct Assessment {
  Finding finding{};
  std::uint64_t seed = 0;     ///< of this check: with it, everything can be run again
  std::size_t problems = 0;   ///< that it passed
  int size_rule = kSizeRule;  ///< by which their sizes were chosen
  Variables tried{};          ///< the largest of each of sizes_of(case) among them: beyond, nothing is known
  std::string device{};       ///< that it ran on; "" where it was rejected before
  std::string notes{};        ///< of the profiler, if asked, and of the compiler: registers, spills
  Timing timing{};
  Decision decision{};
  double seconds = 0;  ///< that all of it took, as whoever asked measured it
};

class Referee {
 public:
  /// Both outlive the referee.
  Referee(Backend& backend, const Case& given, RefereeOptions options);

  /// Correctness alone. ACCEPTED if it is right everywhere.
  ///
  /// @throws Error for what is no fault of the candidate: no compiler, no device, no memory
  Assessment check(const Candidate& candidate);

  /// check(), then the times beside `start` and `best`, which must be correct, and the decision.
  Assessment assess(const Candidate& candidate, const Candidate& start, const Candidate& best);

  /// Times alone, of candidates that are known to be correct.
  Timing time(const Candidate& candidate, const Candidate& start, const Candidate& best, std::uint64_t seed,
              Finding& finding);

  /// Of the problems that check() runs, those of the case's own shapes and of added tests.
  std::vector<ProblemSpec> problems(std::uint64_t seed) const {
    return problems_of(case_, backend_.kind(), options_.more, seed);
  }

  /// Adds a shape to every check from now on. @throws Error{kBadData} for one that the case cannot have
  void add_shape(const Variables& dims);
  /// Likewise, where `start` is right on it: else it would say nothing of candidates. @throws Error{kBadData}
  void add_shape(const Variables& dims, const Candidate& start);
  /// Likewise for inputs of this seed. @throws Error{kBadData} if there are too many
  void add_seed(std::uint64_t seed);

 private:
  /// Problems in one worker, which has room for the largest.
  struct Group {
    std::vector<ProblemSpec> specs{};
    std::size_t guard_bytes = kGuardBytes;  ///< round every buffer: what each problem costs at least
  };

  /// check() on some problems.
  Assessment check_on(const Candidate& candidate, const std::vector<Group>& groups, std::uint64_t seed);
  std::optional<Finding> run_problems(const Candidate& candidate, const Artifact& artifact, const Group& group,
                                      Assessment& made);
  /// Times of start and candidate for each of kComparedValues, once for every shape of `timing`. A dependence, and what
  /// looks impossible, is measured again before it is believed.
  void compare_values(const Candidate& candidate, const Candidate& start, std::uint64_t seed, Timing& timing,
                      Finding& finding);
  /// For one shape, whose times by values are those of this measurement, or none.
  std::optional<Finding> compare_values_on(const Variables& dims, const std::vector<const Candidate*>& kernels,
                                           const std::vector<Artifact>& artifacts, std::uint64_t seed,
                                           ShapeTimes& of_shape);
  /// Joules of start and candidate on every shape of `timing`.
  void measure_energy_of(const Candidate& candidate, const Candidate& start, std::uint64_t seed, Timing& timing);
  std::vector<Artifact> artifacts_of(const std::vector<const Candidate*>& kernels);
  Timing time_shapes(const std::vector<const Candidate*>& kernels, const std::vector<Artifact>& artifacts,
                     std::uint64_t seed, Finding& finding);
  ShapeTimes time_shape(const Variables& dims, const std::vector<const Candidate*>& kernels,
                        const std::vector<Artifact>& artifacts, std::uint64_t seed, Finding& finding);

  Backend& backend_;
  const Case& case_;
  RefereeOptions options_;
};

}  // namespace salient::workbench
