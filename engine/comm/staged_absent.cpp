// engine/comm/staged_absent.cpp - a CPU build: no data is on a GPU.
#include "core/error.h"
#include "engine/comm/staged_communicator.h"

namespace salient {

std::unique_ptr<Communicator> make_staged_communicator(std::unique_ptr<Communicator>) {
  fail(ErrorKind::kNoDevice, "this is a CPU build", Topic::kDevice);
}

}  // namespace salient
