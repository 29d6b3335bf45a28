// engine/apps/bench/scaling_absent.cpp - a build without LibTorch cannot train.
#include "engine/apps/bench/verbs.h"
#include "engine/core/error.h"

namespace salient {

int bench_scaling(Arguments) { fail(ErrorKind::kUsage, "this build has no LibTorch, which 'scaling' needs"); }

}  // namespace salient
