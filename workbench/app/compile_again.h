// workbench/app/compile_again.h - the candidates of a recorded run through gate and compiler once more, without a GPU.
#pragma once

#include <filesystem>

#include "workbench/app/bench_setup.h"
#include "workbench/method/run_record.h"

namespace salient::workbench {

/// A back end that compiles as the recorded run's did, for the machine that its record names.
/// @throws Error{kBadData} if it names none
std::unique_ptr<Backend> recorded_compiler(const RunRecipe& recipe, const KernelOptions& options,
                                           const WorkFolder& work);

struct CompiledAgain {
  std::size_t compiled = 0, rejected = 0;
};

/// Every candidate of the run in `run`: what was rejected by form, gate or compiler must be rejected alike, anything
/// else must compile. CUDA is compiled for the architecture that the record names.
///
/// @throws Error{kBadData} where it differs, Error{kNoInput} without a compiler
CompiledAgain compile_again(const std::filesystem::path& run, const KernelOptions& options);

}  // namespace salient::workbench
