// workbench/app/kept_options.h - what `optimize` was told, kept beside the run: `advance` need not be told again.
#pragma once

#include <filesystem>

#include "workbench/app/kernel_options.h"

namespace salient::workbench {

/// Writes RUN/options.toml; where RUN has a ledger it is another run's, and stays as it is. It is no part of the
/// ledger, and of no archive: a command may hold what is nobody else's.
/// @throws Error{kIo}
void keep_options(const std::filesystem::path& run, const KernelOptions& options);

/// Of a run that never began: the file, and the folder if it holds nothing else.
void drop_options_without_run(const std::filesystem::path& run);

/// Those of RUN/options.toml, but the folder of the run and what one call alone is told; over them what differs from
/// the defaults in `options`. Without the file `options`.
/// @throws Error{kUsage} for a file that is none
KernelOptions with_kept_options(const KernelOptions& options, const std::filesystem::path& run);

}  // namespace salient::workbench
