// workbench/promotion/export_package.h - a kernel as something that other programs call: a library with a C function,
// and what Python needs to know of it.
#pragma once

#include <map>
#include <string>

#include "workbench/case/case.h"
#include "workbench/referee/candidate.h"

namespace salient::workbench {

/// What is exported: a correct candidate of a case.
struct Exported {
  Candidate candidate{};
  Case given{};
  BackendKind backend = BackendKind::kHost;
  Variables tried{};  ///< the largest sizes that it is known to be right for
};

/// Files by name, relative to the package: CASE.cpp or .cu, CASE_launch.h, CASE_library.h with the C function, its
/// source CASE_library.cpp or .cu, workbench_kernel.h on the host, and case.json.
///
/// int salient_CASE(void* const* buffers, const std::int64_t* sizes, void* stream, char* message): buffers and sizes in
/// the case's order, in the memory of the host or of the current device; message has room for 256 bytes. 0 if it was
/// run, or, on a GPU, launched on the stream. Scratch is taken and released by each call.
std::map<std::string, std::string> library_files(const Exported& exported, const std::string& kernel_header);

/// CASE_tvm_ffi.cpp or .cu: the same as a function CASE of TVM's foreign function interface, by its headers.
std::string tvm_ffi_source(const Exported& exported);

/// The command that makes CASE.so of them, to be run in the package's folder; [0] is g++ or nvcc.
std::vector<std::string> build_command(const Exported& exported, const std::string& nvcc);

}  // namespace salient::workbench
