// apps/start_ranks.h - a command that asks for ranks (--ranks), or that torchrun has started, goes on under mpirun.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/rank_hosts.h"
#include "engine/comm/launch.h"

namespace salient {

/// Of --ranks.
inline constexpr int kMostRanks = 1024;

/// What becomes of this process, before MPI starts.
struct RankStart {
  enum class Part {
    kRank,   ///< it is the program: one rank, of whoever has started it
    kStart,  ///< it starts all ranks, by mpirun, and is that from then on
    kJoin,   ///< the first of another host's: there it is for mpirun what ssh is elsewhere
    kEnd,    ///< one of its host's others: it ends at once
  };
  Part part = Part::kRank;
  int ranks = 1;  ///< of all hosts
  int ranks_on_host = 1;

  bool operator==(const RankStart&) const = default;
};

/// Of torchrun's variables RANK, WORLD_SIZE and MASTER_ADDR must be there; a host without LOCAL_RANK has one rank.
/// @param asked    of --ranks; 0 = not given
/// @param look_up  getenv in a program
/// @throws Error{kUsage} for ranks of two launchers, and for variables that do not fit each other
RankStart rank_start(int asked, const LookUp& look_up);

/// Where the hosts of torchrun's job meet: at MASTER_PORT, or beside it where torchrun itself listens there.
/// @throws Error{kUsage} for no port
Meeting meeting_of(const LookUp& look_up);

/// mpirun's command line for the ranks. @param hosts  of --host; "" = this machine alone  @param args  without --ranks
std::vector<std::string> mpirun_command(int ranks, const std::string& hosts, bool is_root, const std::string& program,
                                        std::span<const char* const> args);

/// Does what rank_start() says, where that is to start ranks: mpirun takes this process's place.
/// @return the exit code of a process that ends at once; none: go on
/// @throws Error{kUsage} as rank_start(); Error{kNoInput} where there is no mpirun; Error{kIo}, Error{kComm} where the
///         hosts of torchrun do not find each other
std::optional<int> start_ranks(int asked, std::span<const char* const> args, const LookUp& look_up);

}  // namespace salient
