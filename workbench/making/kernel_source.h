// workbench/making/kernel_source.h - somebody's source: its kernels, their parameters, and what of the text they need.
#pragma once

#include <string>
#include <vector>

#include "workbench/case/case.h"

namespace salient::workbench {

struct KernelParameter {
  std::string name{};
  std::string type{};  ///< without const, restrict and pointer, as "float"
  bool is_pointer = false;
  bool is_const = false;
};

/// One kernel of a source, or, of the host, one function that takes pointers.
struct FoundKernel {
  std::string name{};
  std::vector<KernelParameter> parameters{};
  std::vector<std::string> template_parameters{};  ///< names, if it is a template
  std::string launch_bounds{};                     ///< "__launch_bounds__(256)", if there is one
  std::string grid{}, block{}, smem{};             ///< of its launch in the source: expressions of its parameters
};

/// CUDA: functions with __global__; host: functions with a body, a pointer among their parameters, and the result void.
/// @throws Error{kBadData} for brackets that do not close
std::vector<FoundKernel> find_kernels(const std::string& source, BackendKind backend);

struct KernelText {
  std::string text{};
  std::string name{};                   ///< of the kernel in it, with its namespaces
  std::vector<std::string> left_out{};  ///< by name, for a person to read
};

/// What remains of the source for this kernel alone: its function, as one that another calls, those it needs, types,
/// constants, macros and the headers that candidates may include. Not other kernels, and no code of the host of a GPU.
KernelText text_for_kernel(const std::string& source, BackendKind backend, const FoundKernel& kernel);

}  // namespace salient::workbench
