// workbench/method/driver.h - runs a method: asks the generator, has the referee judge, writes the ledger.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "workbench/ledger/spent.h"
#include "workbench/method/method.h"

namespace salient::workbench {

/// Where answers and assessments come from: the world, or a record.
struct Sources {
  std::function<Answer(const Request&)> ask{};
  /// @param against  source of the kernel to beat   @param more  to be tested from now on
  std::function<Assessment(const std::string& source, const std::string& against, const MoreTests& more)> judge{};
  /// Whether the run ends here; asked before every action. What it throws leaves the run open.
  std::function<bool()> is_over{};
  /// Whether answers and assessments come from a record now: then nothing is said.
  std::function<bool()> is_recorded = [] { return false; };
  Prices prices{};  ///< of the tokens of `ask`
};

/// How runs of earlier versions ended where today's stay open.
inline constexpr const char* kEndedEarly = "ended early: the time was over, or it was interrupted";

struct RunSummary {
  int requests = 0, failed_answers = 0, judged = 0, accepted = 0;
  std::map<std::string, int> verdicts{};
  double best_of_start = 1;  ///< x of the start kernel
  std::string best{};        ///< source; the start kernel if nothing was faster
  std::string reason{};      ///< why the run ended
  int reworded = 0;          ///< of a replay: requests that would read otherwise today
  Spent spent{};
  double cost = 0;  ///< of `spent`, by the prices of the run
};

/// What happens, reported to `on_record(kind, facts, texts)`; facts as in the ledger, texts are stored by hash under
/// their key.
using OnRecord =
    std::function<void(const std::string& kind, Json facts, const std::map<std::string, std::string>& texts)>;

/// From begin() to kFinish. An answer that failed, or is of no use, is one record and one line.
RunSummary run_method(Method& method, const std::string& start, const Sources& sources, const OnRecord& on_record);

/// Plays the ledger of `folder` again: the method with its recorded answers and times.
///
/// @return  the summary   @throws Error{kBadData} where a request, a verdict or the best differ from the record
RunSummary replay_run(const std::filesystem::path& folder, const std::filesystem::path& workbench);

}  // namespace salient::workbench
