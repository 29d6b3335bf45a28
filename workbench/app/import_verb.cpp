// workbench/app/import_verb.cpp - import: cases from the problems of other suites.
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/printable.h"
#include "workbench/app/bench_setup.h"
#include "workbench/app/verbs.h"
#include "workbench/case/case.h"
#include "workbench/referee/process.h"

namespace salient::workbench {
namespace {

constexpr double kSeconds = 3600;

/// What is wrong with a case file that was made; "" if nothing is.
std::string problem_of_case(const std::string& file) {
  try {
    (void)load_case("", file);
    return "";
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    return error.what();
  }
}

}  // namespace

int import_problems(const Words& words, const KernelOptions& options) {
  const bool is_known =
      words.size() == 2 && (words[0] == "kernelbench" || words[0] == "flashinfer" || words[0] == "sol");
  if (!is_known) fail(ErrorKind::kUsage, "import kernelbench|flashinfer|sol FILE|FOLDER");
  if (options.out.empty()) fail(ErrorKind::kUsage, "--out: is needed, the folder for the cases");
  if (!std::filesystem::exists(words[1])) fail(ErrorKind::kNoInput, words[1] + ": no such file or folder");
  const std::filesystem::path script = workbench_folder(options) / "python" / "import_problem.py";
  const ProcessResult made =
      run_process({options.python, script, words[0], words[1], options.out}, "",
                  {.seconds = kSeconds, .ends_when_interrupted = true, .environment = Environment::kWhole});
  std::size_t imported = 0, all = 0;
  std::istringstream lines(made.output);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json told = nlohmann::json::parse(line, nullptr, false);
    if (!told.is_object() || !told.contains("problem")) continue;  // what the problem's code prints
    ++all;
    std::string reason = told.value("reason", "");
    const std::string file = told.value("case", "");
    if (reason.empty()) reason = problem_of_case(file);
    imported += reason.empty() ? 1U : 0U;
    log_result(printable(told["problem"].get<std::string>()) + ": " +
               (reason.empty() ? file : "not imported, " + printable(reason)));
  }
  if (made.timed_out) fail(ErrorKind::kBadData, "importing took more than an hour");
  if (made.exit_code != 0)
    fail(all == 0 ? ErrorKind::kNoInput : ErrorKind::kBadData,
         "importing failed: " + printable(made.errors.substr(0, 1000)));
  log_result("imported " + std::to_string(imported) + " of " + std::to_string(all));
  return imported > 0 ? 0 : kRejected;
}

}  // namespace salient::workbench
