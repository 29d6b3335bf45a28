// core/host/machine.h - what this process may use of its host. By hand: hwloc knows no limits of control groups.
#pragma once

#include <sched.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace salient {

using AskForAffinity = int (*)(pid_t process, std::size_t mask_bytes, cpu_set_t* mask);

/// Logical processors that a process may run on, ascending, however many the host has; empty if the kernel refuses.
///
/// @param process  0 = this one.
/// @param ask      the system call; tests stand in for larger hosts with it.
std::vector<int> cores_of_process(pid_t process = 0, AskForAffinity ask = sched_getaffinity);

// `root` is that of the file system; tests make up others.

/// Cores this process may run on: its affinity mask, cut to the CPU quota of its control groups, at least 1.
int num_usable_cores(const std::filesystem::path& root = "/");

std::string cpu_model();  ///< as /proc/cpuinfo names it
std::string host_name();

std::int64_t resident_bytes();       ///< of this process, now
std::int64_t peak_resident_bytes();  ///< of this process, the most so far (VmHWM)

/// Memory of the host, cut to the limit of this process' control groups.
std::int64_t total_host_bytes(const std::filesystem::path& root = "/");
/// Free or reclaimable memory, cut to what these leave.
std::int64_t available_host_bytes(const std::filesystem::path& root = "/");

}  // namespace salient
