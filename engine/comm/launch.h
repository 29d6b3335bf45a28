// engine/comm/launch.h - how this process was started: alone, or as one of several ranks by mpirun or srun.
#pragma once

#include <functional>
#include <string>

#include "core/error.h"

namespace salient {

/// What a rank needs to know of its program to end without main().
struct RankProgram {
  const char* name = "salient";
  Advice advice = nullptr;
  double start_seconds = 0;  ///< for the other ranks to start, and at the end to end, with it; 0 = no limit
};

/// One rank's place among the others. Value type.
struct Launch {
  int rank = 0, size = 1;
  int local_rank = 0, ranks_on_host = 1, num_hosts = 1;
  int first_on_host = 0;  ///< the rank whose local_rank is 0 on this host
  std::string host{};     ///< a name for messages; two hosts may have the same
  bool has_mpi = false;   ///< MPI is started; always true when size > 1
  int cores = 1;          ///< this rank's share of the cores that the ranks of this host may use
  int cores_of_host = 1;  ///< cores that the launcher may use
  RankProgram program{};
};

/// An error that other ranks know of as well, so that one rank logs it and the others leave quietly.
class RankError : public Error {
 public:
  enum class Known {
    kOnAllRanks,   ///< all ranks throw it at the same place, rank 0 logs it, and MPI still works
    kToOneLogger,  ///< the ranks disagree on what happened; another rank may be gone, and one of the others logs it
  };
  RankError(ErrorKind kind, const std::string& what, Known known, bool logs_here, Topic topic = Topic::kNone)
      : Error(kind, what, topic), known_(known), logs_here_(logs_here) {}
  Known known() const { return known_; }
  bool logs_here() const { return logs_here_; }

 private:
  Known known_;
  bool logs_here_;
};

/// For a failure that every rank meets alike: throws RankError{kOnAllRanks}, which rank 0 logs.
[[noreturn]] inline void fail_on_all_ranks(const Launch& launch, ErrorKind kind, const std::string& what,
                                           Topic topic = Topic::kNone) {
  throw RankError(kind, what, RankError::Known::kOnAllRanks, launch.rank == 0, topic);
}

/// main() of a program that may run as several ranks: starts MPI if a launcher's variables are there, calls `body`,
/// ends MPI. A plain start on one machine never touches MPI.
///
/// An error from `body` is reported once, on standard error, with rank, host and advice; then every rank ends with
/// the exit code of the error, whatever the others do at that time.
/// @return the exit code for main.
int run_ranks(const RankProgram& program, const std::function<int(const Launch&)>& body) noexcept;

using LookUp = std::function<const char*(const char*)>;

/// The whole number that a variable begins with; 0 = none, or not set.
int number_in(const LookUp& look_up, const char* name);

/// Whether a launcher of MPI started this process: mpirun, or srun with --mpi=pmix or pmi2.
bool is_started_by_launcher(const LookUp& look_up);

/// For a single rank in an environment of several tasks, in which every process would train a copy of the same model:
/// why it must not go on. Empty = it may, also where a launcher has started one rank in an allocation for several.
std::string lone_rank_problem(const Launch& launch, const LookUp& look_up);

/// One line about a rank that may use fewer cores than its share, with the launcher's option against it; else empty.
std::string affinity_problem(const Launch& launch);

}  // namespace salient
