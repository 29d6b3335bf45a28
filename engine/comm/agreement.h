// engine/comm/agreement.h - checks that all ranks have the same inputs, and that all succeed or all fail.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"

namespace salient {

/// Collective. Returns when all ranks pass null; otherwise throws, on all of them, RankError with kind and text of the
/// lowest rank that passed an exception.
void agree_on_outcome(Communicator& comm, const std::exception_ptr& failure);

/// Does `work` on every rank and returns when it has succeeded on all, so that no rank goes on alone or waits for one
/// that has failed. For work that may fail on one rank only, because of its disk or its memory.
///
/// @param work  must not communicate.
/// @throws RankError on all ranks when it failed on any.
template <class Work>
void together(Communicator& comm, Work&& work) {
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  agree_on_outcome(comm, failure);
}

/// Whether it holds on every rank; the same on all of them. Collective.
bool on_all_ranks(Communicator& comm, bool holds);

/// For a failure that is the same on every rank, such as a sum over ranks that is not a number: rank 0 logs it.
[[noreturn]] void fail_on_all_ranks(const Communicator& comm, ErrorKind kind, const std::string& what,
                                    Topic topic = Topic::kNone);

/// Collective. `text` must be rank 0's on every rank.
///
/// @param name  of the text, for the message: "the configuration".
/// @throws RankError{kind} on all ranks, naming the first rank that differs and how.
void require_equal_on_all_ranks(Communicator& comm, const std::string& name, const std::string& text,
                                ErrorKind kind = ErrorKind::kUsage);

}  // namespace salient
