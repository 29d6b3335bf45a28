// apps/prepare_partition.h - salient-prepare partition: which rank holds the rows of which nodes.
#pragma once

#include "apps/prepare_steps.h"

namespace salient::prepare {

/// @param arguments  the folder, then the options   @return the exit code
int run_partition(Arguments arguments);

}  // namespace salient::prepare
