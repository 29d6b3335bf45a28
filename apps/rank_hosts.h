// apps/rank_hosts.h - hosts of a job that torchrun has started meet by TCP, so that mpirun reaches them without ssh.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/host/descriptor.h"

namespace salient {

/// A host of a job, as its first process knows it.
struct RankHost {
  int first_rank = 0, num_ranks = 1;  ///< its ranks are those from first_rank on
  std::string name{};                 ///< of its machine; others may have the same
  Descriptor connection{};            ///< on the first host, to each of the others
};

/// Where the hosts of one job meet: the first listens, on all of its addresses, and the others connect to it.
/// Who is connected gets commands, as from a store of torch: no password, so for a network that its users trust.
struct Meeting {
  std::string address{};
  int port = 0;
  std::string job{};  ///< hosts of another one are refused
  int num_ranks = 0;  ///< of all hosts
  std::chrono::seconds patience{300};
};

/// The name of this machine, without its domain, as mpirun takes it in a list of hosts.
std::string name_of_machine();

/// On the first host: waits for the others.
/// @return them by their ranks, connected
/// @throws Error{kIo} where the port cannot be had, or ranks are missing after meeting.patience
std::vector<RankHost> meet_hosts(const Meeting& meeting, int own_ranks);

/// On any other host: connects, runs the one command that mpirun has for it, and tells mpirun how that ended.
/// @return its exit code
/// @throws Error{kIo} where nobody listens within meeting.patience, or the first host goes away before the command
int work_for_first_host(const Meeting& meeting, const RankHost& own);

/// On the first host: the environment of this process becomes one in which mpirun reaches `hosts` by their
/// connections. A child hands on the commands until this process, or what takes its place by exec, has ended.
/// @return what follows --host in mpirun's command line
/// @throws Error{kIo} where a folder for temporary files, or a process, cannot be had
std::string lead_mpirun_to(std::vector<RankHost> hosts, int own_ranks);

}  // namespace salient
