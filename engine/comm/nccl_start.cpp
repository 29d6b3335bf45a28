// engine/comm/nccl_start.cpp - see nccl_start.h.
#include "engine/comm/nccl_start.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <string>

#include "core/cuda/cuda.h"
#include "engine/comm/agreement.h"
#include "engine/comm/in_time.h"
#include "engine/comm/nccl_watch.h"

namespace salient {

ncclUniqueId common_id(Communicator& control) {
  ncclUniqueId id{};
  together(control, [&] {
    if (control.rank() != 0) return;
    if (const ncclResult_t status = ncclGetUniqueId(&id); status != ncclSuccess)
      fail(ErrorKind::kComm, nccl_problem("ncclGetUniqueId", status));
  });
  std::string bytes(id.internal, sizeof id.internal);
  control.broadcast(bytes);
  std::memcpy(id.internal, bytes.data(), sizeof id.internal);
  return id;
}

// NCCL's blocking start has no time-out: it runs on a thread that is left behind.
ncclComm_t start_nccl(Communicator& control, double timeout_seconds) {
  const ncclUniqueId id = common_id(control);
  int device = 0;
  cuda_check(cudaGetDevice(&device));
  const auto started =
      in_time(std::chrono::duration<double>(timeout_seconds), [=, rank = control.rank(), size = control.size()] {
        cuda_check(cudaSetDevice(device));
        ncclComm_t comm = nullptr;
        if (const ncclResult_t status = ncclCommInitRank(&comm, size, id, rank); status != ncclSuccess)
          fail(ErrorKind::kComm, nccl_problem("ncclCommInitRank", status));
        return comm;
      });
  if (!started)
    control.give_up("NCCL did not start in " + std::to_string(std::lround(timeout_seconds)) + " s",
                    Topic::kCommTimeout);
  return *started;
}

}  // namespace salient
