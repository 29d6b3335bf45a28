// workbench/app/verbs.h - what salient-kernels can do; each verb returns the exit code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "workbench/app/kernel_options.h"

namespace salient::workbench {

inline constexpr int kRejected =
    1;  ///< the exit code for a candidate that is rejected; a fault of the referee is an error

inline constexpr int kWaiting = 3;  ///< the exit code of a run that was left open and can be continued

using Words = std::vector<std::string>;  ///< the words between the verb and the first option

int new_case(const Words& words, const KernelOptions& options);
int attack_harness(const Words& words, const KernelOptions& options);
int export_kernel(const Words& words, const KernelOptions& options);
int import_problems(const Words& words, const KernelOptions& options);
int list_cases(const Words& words, const KernelOptions& options);
int lower_candidates(const Words& words, const KernelOptions& options);
int check_candidate(const Words& words, const KernelOptions& options);
int run_candidate(const Words& words, const KernelOptions& options);
int bench_candidates(const Words& words, const KernelOptions& options);
int tune_candidate(const Words& words, const KernelOptions& options);
int optimize_case(const Words& words, const KernelOptions& options);
int advance_run(const Words& words, const KernelOptions& options);
int replay_recorded(const Words& words, const KernelOptions& options);
int write_reports(const Words& words, const KernelOptions& options);
int promote_best(const Words& words, const KernelOptions& options);
int verify_ledger(const Words& words, const KernelOptions& options);

/// Writes, or writes anew, a file that a verb makes, and prints its path. @throws Error{kIo}
void write_result(const std::filesystem::path& path, const std::string& text);

}  // namespace salient::workbench
