// apps/prepare_synthetic.h - salient-prepare synthetic: a generated graph, plain or typed.
#pragma once

#include "apps/prepare_steps.h"

namespace salient::prepare {

/// @return the exit code
int run_synthetic(Arguments arguments);

}  // namespace salient::prepare
