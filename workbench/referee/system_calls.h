// workbench/referee/system_calls.h - what a process that runs host code may still ask of the kernel.
#pragma once

#include <linux/filter.h>

#include <string>
#include <vector>

namespace salient::workbench {

/// A program of seccomp. What it does not allow ends the process with SIGSYS, but for what it refuses with EPERM.
using CallFilter = std::vector<sock_filter>;

/// Of a process that loads a candidate: it reads files, maps memory, and may take another filter; it starts no process
/// or thread, writes no file, and reaches no other process.
CallFilter loading_filter();

/// Of a process that runs one: it reads `in`, writes `out`, takes memory by brk, reads its CPU time, and ends.
CallFilter running_filter(int in, int out);

/// Of one that runs under AddressSanitizer, whose runtime maps memory and writes a report.
CallFilter sanitized_filter(int in, int out);

/// From here on this process can ask for no more than `filter` says. It cannot be undone, nor evaded by machine code
/// that a candidate hides in constants.
/// @return false where the kernel has no such filter
bool take_filter(const CallFilter& filter);

/// Capabilities, which let root read other processes, are gone for good. @return whether they are
bool give_up_capabilities();

/// From here on reading the time stamp counter ends the process with SIGSEGV.
void give_up_time_stamps();

/// `filter` as the initialiser of an array of {code, jt, jf, k}.
std::string text_of(const CallFilter& filter);

}  // namespace salient::workbench
