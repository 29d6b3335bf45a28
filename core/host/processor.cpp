// core/host/processor.cpp - see processor.h.
#include "core/host/processor.h"

namespace salient {

bool has_bf16_products() {
  static const bool found = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bf16") != 0;  // processors with AMX have it, too
  }();
  return found;
}

}  // namespace salient
