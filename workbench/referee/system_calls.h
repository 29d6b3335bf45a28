// workbench/referee/system_calls.h - what a worker that runs host code may still ask of the kernel.
#pragma once

namespace salient::workbench {

/// From here on this process may read and write the descriptors it has, take and give back memory, read its CPU time
/// and end; any other system call ends it with SIGSYS. It cannot be undone, nor evaded by machine code that a
/// candidate hides in constants. Reading the time stamp counter ends it with SIGSEGV.
///
/// @return false where the kernel has no such filter
bool give_up_system_calls();

}  // namespace salient::workbench
