// apps/start_ranks.h - a command that asks for ranks (--ranks), or that torchrun has started, goes on under mpirun.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/comm/launch.h"

namespace salient {

/// Of --ranks.
inline constexpr int kMostRanks = 1024;

/// What becomes of this process, before MPI starts.
struct RankStart {
  int ranks = 1;               ///< to be started on this machine; 1 = this process is the program
  bool is_of_another = false;  ///< another process of torchrun starts them all, and this one ends at once

  bool operator==(const RankStart&) const = default;
};

/// @param asked    of --ranks; 0 = not given
/// @param look_up  getenv in a program
/// @throws Error{kUsage} for ranks of two launchers, and for torchrun's on several hosts
RankStart rank_start(int asked, const LookUp& look_up);

/// mpirun's command line for the ranks, which share the cores of this machine. @param args  without --ranks
std::vector<std::string> mpirun_command(int ranks, bool is_root, const std::string& program,
                                        std::span<const char* const> args);

/// Does what rank_start() says, where that is to start ranks: mpirun takes this process's place.
/// @return the exit code of a process that ends at once; none: go on
/// @throws Error{kUsage} as rank_start(); Error{kNoInput} where there is no mpirun
std::optional<int> start_ranks(int asked, std::span<const char* const> args, const LookUp& look_up);

}  // namespace salient
