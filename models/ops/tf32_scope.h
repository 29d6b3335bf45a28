// models/ops/tf32_scope.h - products of f32 matrices in TF32, for a while.
#pragma once

#include <ATen/Context.h>

namespace salient {

/// Lets cuBLAS round f32 inputs to TF32 while it lives.
class Tf32Scope {
 public:
  Tf32Scope() : before_(at::globalContext().allowTF32CuBLAS()) { at::globalContext().setAllowTF32CuBLAS(true); }
  ~Tf32Scope() { at::globalContext().setAllowTF32CuBLAS(before_); }
  Tf32Scope(const Tf32Scope&) = delete;
  Tf32Scope& operator=(const Tf32Scope&) = delete;

 private:
  bool before_;
};

}  // namespace salient
