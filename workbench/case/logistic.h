// workbench/case/logistic.h - the logistic function, which references compute in double precision.
#pragma once

#include <cmath>

namespace salient::workbench {

/// 1 / (1 + exp(-x)), without an overflow on either side.
inline double logistic(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

}  // namespace salient::workbench
