// workbench/app/promote_verb.cpp - promote: the best kernel of a run, judged once more and sanitized, as files for the
// engine.

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/app/bench_setup.h"
#include "workbench/app/named_run.h"
#include "workbench/app/verbs.h"
#include "workbench/ledger/ledger.h"
#include "workbench/ledger/sha256.h"
#include "workbench/method/run_record.h"
#include "workbench/promotion/launch_header.h"
#include "workbench/promotion/sanitize.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kOfSwept = 29;  // every so many: each is a process of its own, and fences have judged them all

std::optional<Finding> sanitize(const Candidate& candidate, const Case& given, const Referee& referee, Backend& backend,
                                const KernelOptions& options, const WorkFolder& work) {
  if (backend.kind() == BackendKind::kHost) {
    std::vector<ProblemSpec> problems = referee.problems(seed_from_system());
    const std::vector<ProblemSpec> swept = swept_problems(given, BackendKind::kHost, seed_from_system());
    for (std::size_t i = 0; i < swept.size(); i += kOfSwept) problems.push_back(swept[i]);
    return sanitize_on_host(candidate, given, problems, workbench_folder(options) / "cases" / "kernels", work.path());
  }
  const std::filesystem::path file = work.path() / "promoted.cu";
  write_result(file, candidate.source);
  std::variant<Artifact, Finding> compiled = backend.compile(candidate, given);
  if (auto* rejected = std::get_if<Finding>(&compiled)) return *rejected;
  return sanitize_on_cuda({std::filesystem::read_symlink("/proc/self/exe"), "run", given.file, file,
                           std::get<Artifact>(compiled).file, "--workbench-dir", workbench_folder(options)});
}

}  // namespace

int promote_best(const Words& words, const KernelOptions& options) {
  if (words.size() != 1) fail(ErrorKind::kUsage, "promote RUN");
  if (options.out.empty()) fail(ErrorKind::kUsage, "--out: is needed, the folder for kernel and header");
  const NamedRun named(words[0], options);
  const std::filesystem::path& run = named.folder();
  const std::vector<Json> records = load_ledger(run);
  const Json* best = nullptr;
  for (const Json& record : records)
    if (record["kind"] == "best") best = &record;
  if (best == nullptr)
    return log_result("nothing to promote: no candidate was faster than the start kernel"), kRejected;

  const WorkFolder work;
  KernelOptions as_recorded = options;
  as_recorded.backend = text_of(records.front(), "backend");
  const std::unique_ptr<Backend> backend = make_backend(as_recorded, work);
  const Case given = load_case("", case_file_of(records.front(), workbench_folder(options)));
  const Candidate candidate = parse_candidate(read_object(run, text_of(*best, "source")));
  if (candidate.language != Language::kCpp)
    fail(ErrorKind::kUsage, std::string("promote: a kernel in ") + traits_of(candidate.language).word +
                                " is none for the engine, whose kernels are CUDA C++");
  const Candidate start = parse_candidate(read_text_file(given.start(backend->kind())));  // not what the record says
  RefereeOptions how = referee_options(options);
  how.all_remainders = true;
  Referee referee(*backend, given, how);
  const Assessment made = referee.assess(candidate, start, start);
  Finding finding = made.finding;
  if (finding.verdict == Verdict::kAccepted)
    if (auto found = sanitize(candidate, given, referee, *backend, options, work)) finding = std::move(*found);
  if (finding.verdict != Verdict::kAccepted) {
    log_result(std::string(word_of(finding.verdict)) + ", " + finding.reason);
    if (!finding.log.empty()) log_lines(finding.log.substr(0, 4000), log_result);
    return kRejected;
  }
  const std::filesystem::path out = options.out;
  std::filesystem::create_directories(out);
  write_result(out / (given.name + (backend->kind() == BackendKind::kHost ? ".cpp" : ".cu")), candidate.source);
  write_result(out / (given.name + "_launch.h"), launch_header(candidate, given, made.tried));
  const Json facts = {
      {"verdict", word_of(Verdict::kPromoted)}, {"case", given.name},  {"source", sha256(candidate.source)},
      {"ledger", records.back()["hash"]},       {"tried", made.tried}, {"reason", finding.reason}};
  write_result(out / (given.name + "_promoted.json"), facts.dump(2) + "\n");
  log_result(std::string(word_of(Verdict::kPromoted)) + ", " + finding.reason);
  return 0;
}

}  // namespace salient::workbench
