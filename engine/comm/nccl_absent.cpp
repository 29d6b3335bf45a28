// engine/comm/nccl_absent.cpp - a build without NCCL.
#include "core/error.h"
#include "engine/comm/nccl_communicator.h"

namespace salient {

bool has_nccl() { return false; }

std::unique_ptr<Communicator> make_nccl_communicator(std::unique_ptr<Communicator>, double, RowBackend) {
  fail(ErrorKind::kUsage, "this build has no NCCL; a build with a CUDA toolkit and NCCL has it", Topic::kCommBackend);
}

BareAllReduce make_bare_nccl_all_reduce(Communicator&) { fail(ErrorKind::kUsage, "this build has no NCCL"); }

}  // namespace salient
