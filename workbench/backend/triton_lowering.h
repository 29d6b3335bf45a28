// workbench/backend/triton_lowering.h - candidates in Triton: Python makes PTX of them, in a process of its own.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <variant>

#include "workbench/referee/candidate.h"
#include "workbench/referee/process.h"

namespace salient::workbench {

struct Lowered {
  std::string ptx{};
  std::map<std::string, std::int64_t> shared{};  ///< by kernel: bytes of dynamic shared memory
};

struct TritonCompiler {
  std::string python = "python3";       ///< one that has Triton
  std::filesystem::path scripts{};      ///< folder of lower_triton.py
  std::string architecture = "sm_90a";  ///< of the GPU
  std::filesystem::path folder{};       ///< an existing one, for what is made
  ProcessLimits limits{};               ///< of Python
};

/// The kernels of all launches as one module of PTX, for ptxas. The syntax tree is judged before anything of the source
/// runs: STATIC_REJECT where it has more than kernels; COMPILE_ERROR where Triton refuses it.
///
/// @throws Error{kNoInput} where Python or Triton is missing
std::variant<Lowered, Finding> lower_triton(const Candidate& candidate, const Case& given,
                                            const TritonCompiler& compiler);

}  // namespace salient::workbench
