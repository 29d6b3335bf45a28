// workbench/app/bench_setup.h - back ends and generators from options, and where things are.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "workbench/app/kernel_options.h"
#include "workbench/backend/backend.h"
#include "workbench/generator/generator.h"
#include "workbench/method/method.h"
#include "workbench/referee/referee.h"

namespace salient::workbench {

/// A folder for compiled kernels, removed at the end.
class WorkFolder {
 public:
  WorkFolder();
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline constexpr double kEnergySeconds = 1;  ///< of a kernel, where energy is a figure of the answer

std::filesystem::path workbench_folder(const KernelOptions& options);
CudaCompiler cuda_compiler(const KernelOptions& options);
std::unique_ptr<Backend> make_backend(const KernelOptions& options, const WorkFolder& work);
RefereeOptions referee_options(const KernelOptions& options);
MethodOptions method_options(const KernelOptions& options, BackendKind backend);
std::unique_ptr<Generator> make_generator(const KernelOptions& options, const std::filesystem::path& run);

/// @throws Error{kUsage} for values that no verb can use
void check_options(const KernelOptions& options);

}  // namespace salient::workbench
