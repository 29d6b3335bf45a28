// workbench/app/run_verbs.cpp - optimize, replay, report and verify-ledger: runs and their folders.
#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/replace_text_file.h"
#include "core/host/interrupt.h"
#include "core/number_text.h"
#include "workbench/app/bench_setup.h"
#include "workbench/app/compile_again.h"
#include "workbench/app/kept_options.h"
#include "workbench/app/late_backend.h"
#include "workbench/app/named_run.h"
#include "workbench/app/verbs.h"
#include "workbench/ledger/ledger.h"
#include "workbench/ledger/records.h"
#include "workbench/ledger/report.h"
#include "workbench/method/optimize.h"

namespace salient::workbench {
namespace {

void print_summary(const RunSummary& summary) {
  std::string verdicts;
  for (const auto& [word, count] : summary.verdicts) verdicts += " " + word + " " + std::to_string(count);
  log_result("requests " + std::to_string(summary.requests) + ", without a usable answer " +
             std::to_string(summary.failed_answers));
  log_result("candidates " + std::to_string(summary.judged) + ":" + (verdicts.empty() ? " none" : verdicts));
  if (const Spent& spent = summary.spent; spent.tokens() > 0)
    log_result("tokens " + std::to_string(spent.tokens()) + ": asked " + std::to_string(spent.tokens_asked) +
               ", answered " + std::to_string(spent.tokens_answered));
  if (summary.spent.seconds > 0) log_result("seconds " + fixed(summary.spent.seconds, 1));
  if (summary.cost > 0) log_result("cost " + fixed(summary.cost, 4));
  if (summary.reworded > 0) log_result("requests that would read otherwise today " + std::to_string(summary.reworded));
  log_result("best " + fixed(summary.best_of_start, 3) + "x of the start kernel (" + summary.reason + ")");
}

const std::string& only_word(const Words& words, const char* usage) {
  if (words.size() != 1) fail(ErrorKind::kUsage, usage);
  return words[0];
}

/// The referee of a run, whose prompts show what a profiler says, and whose ledger has energies.
RefereeOptions profiled(const KernelOptions& options) {
  RefereeOptions how = referee_options(options);
  how.profiles = options.profile != "never";
  how.energy_seconds = kEnergySeconds;
  return how;
}

/// The summary of `run_it`, or for what it waits. @return the exit code: a run that judged nothing has shown nothing
template <class RunIt>
int run_or_wait(const std::filesystem::path& run, RunIt run_it) {
  const auto print_how_to_go_on = [&](const std::string& why) {
    log_result(why);
    log_result("run folder " + run.string() + ", to be continued by: salient-kernels advance " + run.string());
  };
  try {
    const RunSummary summary = run_it();
    print_summary(summary);
    log_result("run folder " + run.string());
    if (summary.judged > 0) return 0;
    log_warning("no candidate was judged: none of the answers had one");
    return kRejected;
  } catch (const Waiting& waiting) {
    print_how_to_go_on(waiting.reason);
    return kWaiting;
  } catch (const Interrupted&) {
    print_how_to_go_on("interrupted");
    throw;
  }
}

}  // namespace

void write_result(const std::filesystem::path& path, const std::string& text) {
  replace_text_file(path, text);
  log_result(path.string());
}

int optimize_case(const Words& words, const KernelOptions& options) {
  const std::filesystem::path workbench = workbench_folder(options);
  const Case given = load_case(workbench / "cases", only_word(words, "optimize CASE"));
  const std::filesystem::path run =
      options.out.empty() ? new_run_folder("runs/kernels", given.name) : std::filesystem::path(options.out);
  const WorkFolder work;
  const std::unique_ptr<Backend> backend = make_backend(options, work);
  const std::unique_ptr<Generator> generator = make_generator(options, run);
  install_interrupt_handlers();
  keep_options(run, options);
  const OptimizeOptions how{.method = method_options(options, backend->kind()),
                            .referee = profiled(options),
                            .budget_seconds = options.budget_s,
                            .budget_tokens = options.budget_tokens,
                            .budget_cost = options.budget_cost,
                            .prices = {options.price_asked, options.price_answered},
                            .generator = options.generator == "openai" ? "openai " + options.model : options.generator};
  try {
    return run_or_wait(run, [&] { return optimize(given, *backend, *generator, how, workbench, run); });
  } catch (...) {
    drop_options_without_run(run);
    throw;
  }
}

int advance_run(const Words& words, const KernelOptions& options) {
  const std::filesystem::path workbench = workbench_folder(options), run = only_word(words, "advance RUN");
  const Json first = first_record(run);
  KernelOptions as_recorded = with_kept_options(options, run);
  as_recorded.backend = text_of(first, "backend");
  if (as_recorded.generator.empty()) as_recorded.generator = "folder";
  const WorkFolder work;
  const auto make = [&] {
    try {
      return make_backend(as_recorded, work);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kNoDevice && error.kind() != ErrorKind::kNoInput) throw;
      throw Waiting{std::string("waiting for a machine that can judge the next candidate: ") + error.what()};
    }
  };
  LateBackend backend(as_recorded.backend == "cuda" ? BackendKind::kCuda : BackendKind::kHost, make,
                      [&] { return recorded_compiler(read_recipe(run, first, workbench), options, work); });
  const std::unique_ptr<Generator> generator = make_generator(as_recorded, run);
  install_interrupt_handlers();
  const OptimizeOptions how{.referee = profiled(as_recorded),
                            .judges_again = options.again,
                            .budget_seconds = options.budget_s,
                            .budget_tokens = options.budget_tokens,
                            .budget_cost = options.budget_cost};
  return run_or_wait(run, [&] { return continue_run(backend, *generator, how, workbench, run); });
}

namespace {

/// Correct candidates of a record whose sizes it does not have: they were tried on fewer inputs than are tried today.
std::size_t judged_by_older_rules(const std::filesystem::path& run) {
  std::size_t count = 0;
  for (const Json& record : load_ledger(run))
    if (record["kind"] == "assessment" && !record.contains("tried") &&
        is_correct(assessment_of(record).finding.verdict))
      ++count;
  return count;
}

}  // namespace

int replay_recorded(const Words& words, const KernelOptions& options) {
  const NamedRun run(only_word(words, "replay RUN"), options);
  print_summary(replay_run(run.folder(), workbench_folder(options)));
  if (options.compile) {
    const CompiledAgain counts = compile_again(run.folder(), options);
    log_result("compiled again " + std::to_string(counts.compiled) + ", rejected again by form, gate or compiler " +
               std::to_string(counts.rejected));
  }
  if (const std::size_t older = judged_by_older_rules(run.folder()); older > 0)
    log_result(std::to_string(older) +
               " of its candidates were judged by older rules, on fewer patterns and sizes of inputs");
  log_result("the record was reproduced: same candidates, same verdicts, same best");
  return 0;
}

int write_reports(const Words& words, const KernelOptions& options) {
  const NamedRun named(only_word(words, "report RUN"), options);
  const std::filesystem::path& run = named.folder();
  if (named.is_unpacked() && options.out.empty())
    fail(ErrorKind::kUsage, "--out: is needed, the folder for the report of a run in an archive");
  const std::filesystem::path out = options.out.empty() ? run : std::filesystem::path(options.out);
  const Baselines baselines =
      options.baselines.empty() ? Baselines{} : read_baselines(options.baselines, text_of(first_record(run), "case"));
  const std::string markdown = markdown_report(run, baselines), html = html_report(run, baselines);
  std::filesystem::create_directories(out);
  write_result(out / "report.md", markdown);
  write_result(out / "report.html", html);
  return 0;
}

int verify_ledger(const Words& words, const KernelOptions& options) {
  const NamedRun run(only_word(words, "verify-ledger RUN"), options);
  const std::vector<Json> records = load_ledger(run.folder());
  verify_best(run.folder(), records);
  const std::string head = text_of(records.back(), "hash");
  if (!options.head.empty() && options.head != head)
    fail(ErrorKind::kBadData, "the last record has the hash " + head + ", not that of --head");
  log_result(std::to_string(records.size()) + " records; chain, texts and best are whole");
  log_result("head " + head);
  return 0;
}

}  // namespace salient::workbench
