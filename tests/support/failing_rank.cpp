// tests/support/failing_rank.cpp - a program whose ranks exchange sums until one of them fails in the way that is asked
// for; tests/integration/rank_failures.py looks at how it ends.
#include <csignal>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "engine/comm/agreement.h"
#include "engine/comm/make_communicator.h"

namespace salient {
namespace {

void fail_as(const std::string& how) {
  if (how == "throw") fail(ErrorKind::kBadData, "part 7: checksum differs");
  if (how == "memory") throw std::bad_alloc();
  if (how == "exit") std::_Exit(0);  // as a library's exit() would
  if (how == "kill") (void)raise(SIGKILL);
  if (how == "stop") (void)raise(SIGSTOP);
  if (how == "crash") (void)raise(SIGSEGV);
}

int run(const Launch& launch, const std::string& how, int failing_rank) {
  const auto comm = make_communicator({.timeout_seconds = 3}, launch);
  require_equal_on_all_ranks(*comm, "the configuration", how == "differ" && launch.rank == failing_rank ? "b" : "a");
  std::vector<float> data(100000);
  for (int step = 0; step < 200; ++step) {
    const bool is_time = step == 100 && launch.rank == failing_rank;
    if (is_time) fail_as(how);
    if (step == 100 && how == "together")
      together(*comm, [&] {
        if (is_time) fail(ErrorKind::kIo, "checkpoints/epoch-0001: disk full");
      });
    if (is_time && how == "mismatch") comm->barrier();
    (void)comm->exchange_flags(0);
    comm->all_reduce_sum(std::span<float>(data), nullptr);
  }
  return 0;
}

}  // namespace
}  // namespace salient

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "nothing";
  const int failing_rank = argc > 2 ? std::atoi(argv[2]) : 1;
  return salient::run_ranks("failing_rank", [&](const salient::Launch& launch) {
    return salient::run(launch, how, failing_rank);
  });
}
