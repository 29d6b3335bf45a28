// python/bindings/python_lock.h - work without the lock of Python, and the way back into an interpreter that ends.
#pragma once

#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

namespace salient::python {

/// Gives Python's lock to other threads for as long as it lives. A daemon thread that wants it back after the program's
/// end waits there for ever, and goes with the process: up to Python 3.13 the interpreter unwinds the thread's stack
/// instead, which ends the process by std::terminate() at the first function that must not throw.
class LockReleased {
 public:
  LockReleased() : state_(PyEval_SaveThread()) {}
  ~LockReleased() {
    try {
      PyEval_RestoreThread(state_);
    } catch (const abi::__forced_unwind&) {
      while (true) pause();
    }
  }
  LockReleased(const LockReleased&) = delete;
  LockReleased& operator=(const LockReleased&) = delete;

 private:
  PyThreadState* const state_;
};

}  // namespace salient::python
