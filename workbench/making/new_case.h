// workbench/making/new_case.h - a case file and a start kernel from somebody's source.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workbench/case/problem.h"
#include "workbench/making/kernel_source.h"

namespace salient::workbench {

/// A parameter of the kernel as the case has it.
struct NewBuffer {
  std::string name{};
  ElementType type = ElementType::kF32;
  BufferRole role = BufferRole::kIn;
  std::string count{};  ///< expression; "" = not known yet
  std::string fill{};   ///< "index sources", "indptr edges", "bits" or ""
};

/// What is known of a case that is being made. Whatever is empty has to be asked for, or is left to its default.
struct NewCase {
  std::string name{}, kind = "elementwise", file{};  ///< file: the source's name, as the case file cites it
  BackendKind backend = BackendKind::kHost;
  FoundKernel kernel{};
  KernelText text{};
  std::vector<std::string> template_arguments{};
  std::map<std::string, std::string> constants{};  ///< of scalar parameters: what is passed in each launch
  std::vector<NewBuffer> buffers{};
  std::vector<std::string> dims{};
  std::vector<Variables> shapes{};      ///< that are timed
  bool has_fixed_shapes = false;        ///< no others are tested
  std::vector<std::string> formulas{};  ///< one for each output, or
  std::string python{};                 ///< "FILE [FUNCTION]"
  std::string bytes{}, flops{}, bound{};
  std::string grid{}, block{}, smem{};
};

/// Sorts the kernel's parameters into buffers, sizes and constants.
/// @throws Error{kBadData} for a parameter that no case has, or that no value was given for
void read_parameters(NewCase& made);

/// "x=m*k; indices=edges index sources; y=inout n" into counts, fills and roles. @throws Error{kUsage}
void set_buffers(NewCase& made, const std::string& text);
/// "m=512 n=512; m=64 n=4096". @throws Error{kUsage}
void set_shapes(NewCase& made, const std::string& text);

/// Why an expression of the case's sizes cannot be one; "" if it can.
std::string problem_of_expression(const NewCase& made, const std::string& text);

/// The text of NAME.case. @throws Error{kBadData}
std::string case_text(const NewCase& made);
/// The text of kernels/NAME.cu or .cpp: the source's function, and an entry with the case's parameters that calls it.
std::string kernel_text(const NewCase& made);

}  // namespace salient::workbench
