// core/host/program.h - the first and the last line of every program's main().
#pragma once

namespace salient {

/// Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed: else the next file would get its number, and
/// with it every line that is meant for a terminal. A file that grows past `ulimit -f` becomes an error of write(), as
/// on a full disk. SIGUSR1, the wish for a checkpoint, ends no program: it is ignored until handlers are installed. A
/// mapped file that is cut while it is read ends the program with a line and exit code 74, not by SIGBUS. So does, with
/// its own code, an exception that no thread catches, as of one that gets no memory. Threads have stacks of a known
/// size: set_thread_stacks().
void start_program() noexcept;

/// Flushes standard output. @return  `code`; 74 instead of 0, after a line on standard error, when results did not
/// get out
int end_program(const char* program, int code) noexcept;

}  // namespace salient
