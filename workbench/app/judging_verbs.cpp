// workbench/app/judging_verbs.cpp - list, check, bench and tune: candidates without a generator.
#include <algorithm>
#include <regex>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/number_text.h"
#include "workbench/app/bench_setup.h"
#include "workbench/app/verbs.h"
#include "workbench/promotion/sanitize.h"
#include "workbench/referee/referee.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kMaxSettings = 256;

/// A verdict with its reason and log. @return the exit code
int print_verdict(const std::string& file, const Finding& finding) {
  log_result(file + ": " + word_of(finding.verdict) + ", " + finding.reason);
  if (!is_correct(finding.verdict) && !finding.log.empty()) log_lines(finding.log.substr(0, 4000), log_result);
  return is_correct(finding.verdict) && finding.verdict != Verdict::kImpossible ? 0 : kRejected;
}

void print_tried(const Assessment& made) {
  if (is_correct(made.finding.verdict)) log_result("tried up to " + text_of(made.tried) + "; nothing is known beyond");
}

Candidate start_of(const Case& given, const Backend& backend) {
  const std::filesystem::path file = given.start(backend.kind());
  if (file.empty())
    fail(ErrorKind::kUsage, "case " + given.name + " has no start kernel of the back end " + word_of(backend.kind()));
  return parse_candidate(read_text_file(file));
}

/// Every combination of the values that the parameters offer.
std::vector<Candidate> settings_of(const Candidate& candidate) {
  std::vector<Candidate> settings = {candidate};
  for (std::size_t p = 0; p < candidate.parameters.size(); ++p) {
    if (candidate.parameters[p].values.empty()) continue;
    std::vector<Candidate> more;
    for (const Candidate& setting : settings)
      for (const std::int64_t value : candidate.parameters[p].values) {
        more.push_back(setting);
        more.back().parameters[p].value = value;
      }
    settings = std::move(more);
    if (settings.size() > kMaxSettings) fail(ErrorKind::kUsage, "more than 256 settings to try");
  }
  return settings;
}

std::string text_of_setting(const Candidate& candidate) {
  std::string text;
  for (const Parameter& parameter : candidate.parameters)
    text += parameter.name + "=" + std::to_string(parameter.value) + " ";
  return text;
}

/// The source with the values of its parameters in their declarations: comment lines whose first words are "param" and
/// NAME=VALUE, as read_candidate() finds them.
std::string with_setting(const Candidate& candidate) {
  std::string source = candidate.source;
  for (const Parameter& parameter : candidate.parameters) {
    const std::regex declaration("(^|\n)([ \t]*(?://|#)[ \t]*param[ \t]+" + parameter.name + "=)([^ \t\r\n]*)");
    std::smatch found;
    if (!std::regex_search(source, found, declaration)) fail(ErrorKind::kInternal, "a parameter is declared");
    source.replace(static_cast<std::size_t>(found.position(3)), static_cast<std::size_t>(found.length(3)),
                   std::to_string(parameter.value));
  }
  return source;
}

}  // namespace

int list_cases(const Words& words, const KernelOptions& options) {
  if (!words.empty()) fail(ErrorKind::kUsage, "list takes no words");
  for (const Case& given : load_cases(workbench_folder(options) / "cases"))
    log_result(given.name + std::string(given.name.size() < 24 ? 24 - given.name.size() : 1, ' ') + given.kind + ": " +
               given.task.substr(0, given.task.find('\n')));
  return 0;
}

int lower_candidates(const Words& words, const KernelOptions& options) {
  if (words.size() < 2) fail(ErrorKind::kUsage, "lower CASE FILE...");
  if (options.backend == "host") fail(ErrorKind::kUsage, "lower: for the back end cuda");
  const WorkFolder work;
  const Case given = load_case(workbench_folder(options) / "cases", words[0]);
  const std::unique_ptr<Backend> backend = make_cuda_backend(cuda_compiler(options), work.path());
  int code = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::variant<Candidate, Finding> read = read_candidate(read_text_file(words[i]));
    Finding found{Verdict::kAccepted, "it compiles; nothing was run", {}};
    if (auto* rejected = std::get_if<Finding>(&read)) {
      found = std::move(*rejected);
    } else {
      std::variant<Artifact, Finding> made = backend->compile(std::get<Candidate>(read), given);
      if (auto* refused = std::get_if<Finding>(&made)) found = std::move(*refused);
    }
    code = std::max(code, print_verdict(words[i], found));
  }
  return code;
}

int check_candidate(const Words& words, const KernelOptions& options) {
  if (words.size() != 2) fail(ErrorKind::kUsage, "check CASE FILE");
  const WorkFolder work;
  const Case given = load_case(workbench_folder(options) / "cases", words[0]);
  const std::unique_ptr<Backend> backend = make_backend(options, work);
  std::variant<Candidate, Finding> read = read_candidate(read_text_file(words[1]));
  if (const auto* rejected = std::get_if<Finding>(&read)) return print_verdict(words[1], *rejected);
  const Assessment made = Referee(*backend, given, referee_options(options)).check(std::get<Candidate>(read));
  const int code = print_verdict(words[1], made.finding);
  print_tried(made);
  log_result("seed " + std::to_string(made.seed));
  return code;
}

int run_candidate(const Words& words, const KernelOptions& options) {
  if (words.size() != 3) fail(ErrorKind::kUsage, "run CASE FILE BINARY");
  const Case given = load_case(workbench_folder(options) / "cases", words[0]);
  const Candidate candidate = parse_candidate(read_text_file(words[1]));
  const std::size_t runs = run_in_this_process(
      candidate, given, words[2], options.public_shapes ? WhichProblems::kPublic : WhichProblems::kSmall, options.seed);
  log_result(std::to_string(runs) + " runs");
  return 0;
}

int bench_candidates(const Words& words, const KernelOptions& options) {
  if (words.size() < 2) fail(ErrorKind::kUsage, "bench CASE FILE...");
  const WorkFolder work;
  const Case given = load_case(workbench_folder(options) / "cases", words[0]);
  const std::unique_ptr<Backend> backend = make_backend(options, work);
  const Candidate start = start_of(given, *backend);
  RefereeOptions how = referee_options(options);
  how.profiles = true;
  how.energy_seconds = kEnergySeconds;
  Referee referee(*backend, given, how);
  int code = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::variant<Candidate, Finding> read = read_candidate(read_text_file(words[i]));
    Assessment made;
    if (auto* rejected = std::get_if<Finding>(&read))
      made.finding = *rejected;
    else
      made = referee.assess(std::get<Candidate>(read), start, start);
    code = std::max(code, print_verdict(words[i], made.finding));
    log_lines(timing_text(made.timing) + made.notes, log_result);
    print_tried(made);
  }
  return code;
}

int tune_candidate(const Words& words, const KernelOptions& options) {
  if (words.size() != 2) fail(ErrorKind::kUsage, "tune CASE FILE");
  const WorkFolder work;
  const Case given = load_case(workbench_folder(options) / "cases", words[0]);
  const std::unique_ptr<Backend> backend = make_backend(options, work);
  const std::variant<Candidate, Finding> read = read_candidate(read_text_file(words[1]));
  if (const auto* rejected = std::get_if<Finding>(&read)) return print_verdict(words[1], *rejected);
  if (std::filesystem::is_directory(options.out)) fail(ErrorKind::kUsage, "--out " + options.out + ": is a folder");
  const Candidate start = start_of(given, *backend), &first = std::get<Candidate>(read);
  Referee referee(*backend, given, referee_options(options));
  Candidate best = first;
  bool has_won = false;
  double of_start = 0;  // of the fastest that is correct
  for (const Candidate& setting : settings_of(first)) {
    const Assessment made = referee.assess(setting, start, has_won ? best : start);
    log_result(text_of_setting(setting) + word_of(made.finding.verdict) + ", " + made.finding.reason);
    if (!is_correct(made.finding.verdict) || made.finding.verdict == Verdict::kImpossible) continue;
    if (made.finding.verdict == Verdict::kAccepted) {
      best = setting;
      has_won = true;
    } else if (!has_won && made.decision.of_start > of_start) {
      best = setting;
    }
    of_start = std::max(of_start, made.decision.of_start);
  }
  if (of_start == 0) return log_result("no setting is correct"), kRejected;
  if (!has_won)
    log_result("no setting is faster than the start kernel beyond the noise; the fastest of the correct ones:");
  log_result("best: " + text_of_setting(best));
  if (!options.out.empty()) (void)write_text_file(options.out, with_setting(best));
  return 0;
}

}  // namespace salient::workbench
