// engine/core/machine.h - what this process may use of its host.
#pragma once

#include <cstdint>
#include <string>

namespace salient {

/// Cores this process may run on: its affinity mask, cut to the container's CPU quota, at least 1.
int num_usable_cores();

std::string cpu_model();  ///< as /proc/cpuinfo names it
std::string host_name();

std::int64_t resident_bytes();        ///< of this process, now
std::int64_t peak_resident_bytes();   ///< of this process, the most so far (VmHWM)
std::int64_t total_host_bytes();      ///< memory of the host, cut to the container's limit
std::int64_t available_host_bytes();  ///< free or reclaimable, cut to the container's limit

}  // namespace salient
