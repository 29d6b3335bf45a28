// tests/support/failing_rank.cpp - a program whose ranks exchange sums and messages until one fails as it is asked to;
// tests/engine/comm/rank_failures.py looks at how it ends. "gpu" as third argument: sums on GPUs, all by NCCL.
#include <csignal>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/comm/agreement.h"
#include "engine/comm/make_communicator.h"
#include "tests/support/summed_data.h"

namespace salient {
namespace {

void fail_as(const std::string& how) {
  if (how == "throw") fail(ErrorKind::kBadData, "part 7: checksum differs");
  if (how == "memory") throw std::bad_alloc();
  if (how == "exit") std::_Exit(0);  // as a library's exit() would
  if (how == "kill") (void)raise(SIGKILL);
  if (how == "stop" || how == "flood") (void)raise(SIGSTOP);
  if (how == "crash") (void)raise(SIGSEGV);
}

/// To the next rank and from the one before, as feature rows.
std::unique_ptr<Transfer> start_mail(Communicator& comm, std::span<std::byte> mail) {
  const auto size = static_cast<std::size_t>(comm.size()), rank = static_cast<std::size_t>(comm.rank());
  std::vector<std::span<const std::byte>> out(size);
  std::vector<std::span<std::byte>> in(size);
  out[(rank + 1) % size] = mail.first(mail.size() / 2);
  in[(rank + size - 1) % size] = mail.subspan(mail.size() / 2);
  return comm.rows().transfer(out, in);
}

void take_steps(Communicator& comm, SummedData& data, const std::string& how, bool is_failing) {
  for (int step = 0; step < 200; ++step) {
    const bool is_time = step == 100 && is_failing;
    if (is_time) fail_as(how);
    if (step == 100 && how == "together")
      together(comm, [&] {
        if (is_time) fail(ErrorKind::kIo, "checkpoints/epoch-0001: disk full");
      });
    if (is_time && how == "mismatch") comm.barrier();
    (void)comm.exchange_flags(0);
    const std::unique_ptr<Transfer> mail = start_mail(comm, data.mail());
    comm.all_reduce_sum(data.get(), data.stream());
    if (step >= 100 && how == "flood") data.flood();
    mail->wait();
    if (step % 10 == 9) data.wait();
  }
}

int run(const Launch& launch, const std::string& how, int failing_rank, bool is_on_gpu) {
  if (is_on_gpu && !take_gpu(launch.local_rank, launch.ranks_on_host)) return 77;
  const bool is_failing = launch.rank == failing_rank;
  const auto comm = make_communicator({.timeout_seconds = 8.0,
                                       .is_data_on_gpu = is_on_gpu,
                                       .moves_rows = true,
                                       .rows = is_on_gpu ? RowBackend::kNccl : RowBackend::kMpi},
                                      launch);
  require_equal_on_all_ranks(*comm, "the configuration", how == "differ" && is_failing ? "b" : "a");
  try {
    const std::unique_ptr<SummedData> data = is_on_gpu ? make_summed_gpu_data() : std::make_unique<SummedHostData>();
    take_steps(*comm, *data, how, is_failing);
    return 0;
  } catch (...) {
    comm->cancel();
    throw;
  }
}

}  // namespace
}  // namespace salient

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "nothing";
  const int failing_rank = argc > 2 ? std::atoi(argv[2]) : 1;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing writes the environment
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const auto stop_if = [&](std::string_view when) {
    if (how == when && rank != nullptr && std::atoi(rank) == failing_rank) (void)raise(SIGSTOP);
  };
  stop_if("stop-before-mpi");
  return salient::run_ranks({.name = "failing_rank", .start_seconds = 8}, [&](const salient::Launch& launch) {
    stop_if("stop-at-start");
    const int code = salient::run(launch, how, failing_rank, argc > 3 && std::string_view(argv[3]) == "gpu");
    stop_if("stop-at-end");
    return code;
  });
}
