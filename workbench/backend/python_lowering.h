// workbench/backend/python_lowering.h - candidates in languages of Python: their compilers make PTX or a cubin, in a
// process of their own and without a GPU.
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
  std::string cubin{};                           ///< contents of the file, of a compiler that gives no PTX
  std::map<std::string, std::int64_t> shared{};  ///< by kernel: bytes of dynamic shared memory
};

struct PythonCompiler {
  std::string python = "python3";       ///< one that has the language's package
  std::filesystem::path scripts{};      ///< folder of lower_WORD.py
  std::string nvcc = "nvcc";            ///< for languages that become CUDA C++ first
  std::string architecture = "sm_90a";  ///< of the GPU
  std::filesystem::path folder{};       ///< an existing one, for what is made
  /// Folder of what was made before, by its question, so that another machine needs no compiler; empty = none. What it
  /// has is judged again; what cannot be read there is made again.
  std::filesystem::path kept{};
  bool keeps = false;      ///< what is made is added to `kept`; a warning where that cannot be
  ProcessLimits limits{};  ///< of Python
};

/// The kernels of all launches as one module. The syntax tree is judged before anything of the source runs:
/// STATIC_REJECT where it has more than kernels; COMPILE_ERROR where the language's compiler refuses it.
///
/// @throws Error{kNoInput} where Python, the language's package or a program that it starts is missing, and nothing was
///         kept
std::variant<Lowered, Finding> lower_by_python(const Candidate& candidate, const Case& given,
                                               const PythonCompiler& compiler);

}  // namespace salient::workbench
