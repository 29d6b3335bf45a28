// workbench/app/salient_kernels.cpp - salient-kernels: judges kernels and improves them.
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

#include "apps/options/help.h"
#include "core/error.h"
#include "core/host/interrupt.h"
#include "core/host/program.h"
#include "core/version.h"
#include "workbench/app/bench_setup.h"
#include "workbench/app/verbs.h"
#include "workbench/case/reference_program.h"

namespace salient::workbench {
namespace {

struct Verb {
  const char* name;
  const char* synopsis;
  const char* purpose;
  int (*run)(const Words&, const KernelOptions&);
};

constexpr Verb kVerbs[] = {
    {"list", "list", "the cases", list_cases},
    {"new", "new NAME --from FILE", "a case from somebody's kernel, and its verdict", new_case},
    {"import", "import SUITE FILE|FOLDER --out DIR", "cases of kernelbench, flashinfer or sol", import_problems},
    {"lower", "lower CASE FILE...", "candidates compiled without a GPU, kept with --lowered for others",
     lower_candidates},
    {"check", "check CASE FILE", "is a candidate correct?", check_candidate},
    {"bench", "bench CASE FILE...", "how fast are candidates, beside the start kernel?", bench_candidates},
    {"run", "run CASE FILE BINARY", "a compiled candidate in this process, for sanitizers and ncu", run_candidate},
    {"tune", "tune CASE FILE", "try the values of a candidate's parameters", tune_candidate},
    {"optimize", "optimize CASE --generator G", "improve a kernel by a method", optimize_case},
    {"advance", "advance RUN", "go on with a run that was left open", advance_run},
    {"replay", "replay RUN", "decide a recorded run again, without a generator or a GPU", replay_recorded},
    {"report", "report RUN", "write report.md and report.html", write_reports},
    {"promote", "promote RUN --out DIR", "the best kernel, sanitized, with its launch header", promote_best},
    {"export", "export RUN --as KIND --out DIR", "the best kernel for PyTorch, kernels, TVM or C++", export_kernel},
    {"attack", "attack --harness COMMAND", "which cheats does somebody's own referee accept?", attack_harness},
    {"verify-ledger", "verify-ledger RUN", "was the record changed?", verify_ledger},
};

void print_help(const options::HelpTopic& topic = options::HelpTopic(options::HelpTopic::kSummary)) {
  constexpr std::size_t kIndent = 46;
  const std::size_t columns = options::help_columns();
  std::string title = "salient-kernels - judges compute kernels, and improves them\n\n";
  for (const Verb& verb : kVerbs) {
    std::string line = std::string("  salient-kernels ") + verb.synopsis;
    line.resize(std::max(line.size() + 2, kIndent), ' ');
    title += line + options::wrapped(verb.purpose, line.size(), columns) + '\n';
  }
  title +=
      "\nExit code 0: done; 1: a candidate was rejected; 3: a run was left open and can go on; 130: likewise, after "
      "Ctrl-C; others as salient-train's. Options and their defaults:\n";
  options::print_help(std::cout, title, KernelOptions{}, topic);
}

/// What a user can do about an error.
const char* advice(ErrorKind kind, Topic topic) {
  if (topic == Topic::kRunDirectory) return "choose another folder with --out";
  if (kind == ErrorKind::kNoDevice) return "--backend host needs no GPU";
  return nullptr;
}

/// No other process of this user may read keys from this one's memory, or from a core file; a tool that looks into a
/// candidate's run may.
void keep_memory_private() { (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int run(std::span<const char* const> arguments) {
  if (arguments.empty()) return print_help(), static_cast<int>(ErrorKind::kUsage);
  const std::string_view name = arguments[0];
  if (name.starts_with("--help") || name == "-h" || name == "help") return print_help(), 0;
  if (name == "--version") return std::printf("salient-kernels %s\n", kVersion), 0;
  for (const Verb& verb : kVerbs) {
    if (name != verb.name) continue;
    std::size_t at = 1;
    Words words;
    while (at < arguments.size() && !std::string_view(arguments[at]).starts_with("--"))
      words.emplace_back(arguments[at++]);
    KernelOptions given;
    options::parse(arguments.subspan(at), given);
    if (given.help) return print_help(given.help), 0;
    check_options(given);
    set_reference_python(given.python, workbench_folder(given) / "python" / "reference_server.py");
    if (verb.run != run_candidate) keep_memory_private();
    return verb.run(words, given);
  }
  fail(ErrorKind::kUsage, "unknown verb '" + std::string(name) + "'; see --help");
}

}  // namespace
}  // namespace salient::workbench

int main(int argc, char** argv) {
  salient::start_program();
  try {
    const int code = salient::workbench::run({argv + 1, static_cast<std::size_t>(argc - 1)});
    return salient::end_program("salient-kernels", code);
  } catch (const salient::Interrupted& interrupted) {
    return 128 + interrupted.signal;
  } catch (...) {
    return salient::report_current_exception("salient-kernels", salient::workbench::advice);
  }
}
