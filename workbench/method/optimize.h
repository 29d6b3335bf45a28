// workbench/method/optimize.h - a whole run: method, generator and referee, recorded in a folder.
#pragma once

#include <filesystem>
#include <string>

#include "workbench/backend/backend.h"
#include "workbench/generator/generator.h"
#include "workbench/method/driver.h"

namespace salient::workbench {

struct OptimizeOptions {
  MethodOptions method{};
  RefereeOptions referee{};
  bool judges_again = false;  ///< of continue_run: a run that stopped for a person goes on
  double budget_seconds = 0;  ///< 0 = no limit; a request or judgement under way is finished, and the run stays open
  std::int64_t budget_tokens = 0;  ///< likewise, of all requests and answers of the run
  double budget_cost = 0;          ///< likewise, money by `prices`
  Prices prices{};                 ///< of tokens, for the record; continue_run takes the record's
  std::string generator{};         ///< as the user named it, for the record
};

/// Runs the method on the case and records everything in `folder`, which must have no ledger.
///
/// @param workbench  folder with cases/ and prompts/
/// @throws Waiting if the generator has to wait or the budget is over, Interrupted, Error{kUsage}, Error{kBadData} if
///         the start kernel itself is rejected, and what the referee throws
RunSummary optimize(const Case& given, Backend& backend, Generator& generator, const OptimizeOptions& options,
                    const std::filesystem::path& workbench, const std::filesystem::path& folder);

/// Goes on with the run in `folder`: its record is played first, then the generator and the referee are asked. Case,
/// prompts, method and samples are the record's; of `options` the rest counts. A run that has ended stays as it is, but
/// one that an IMPOSSIBLE candidate stopped goes on with `judges_again`: the candidate is judged once more.
///
/// @throws Waiting if the generator has to wait or the budget is over, Interrupted, Error{kNoInput}, Error{kBadData},
///         and what the referee throws
RunSummary continue_run(Backend& backend, Generator& generator, const OptimizeOptions& options,
                        const std::filesystem::path& workbench, const std::filesystem::path& folder);

/// "runs/kernels/CASE/20261122-101500-PID"
std::filesystem::path new_run_folder(const std::filesystem::path& parent, const std::string& name);

}  // namespace salient::workbench
