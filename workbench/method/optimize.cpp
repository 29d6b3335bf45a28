// workbench/method/optimize.cpp - see optimize.h.
#include "workbench/method/optimize.h"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/host/interrupt.h"
#include "core/number_text.h"
#include "core/version.h"
#include "workbench/case/reference_program.h"
#include "workbench/ledger/records.h"
#include "workbench/ledger/sha256.h"
#include "workbench/method/recorded_run.h"
#include "workbench/method/run_record.h"

namespace salient::workbench {
namespace {

using Clock = std::chrono::steady_clock;

/// A source that was judged before, or nothing usable: the referee's answer without running anything again.
Candidate parse_or_start(const std::string& source, const Candidate& start) {
  std::variant<Candidate, Finding> read = read_candidate(source);
  return std::holds_alternative<Candidate>(read) ? std::get<Candidate>(std::move(read)) : start;
}

/// Of a file with this source, which has a launch line.
const char* extension_of(const std::string& source, BackendKind backend) {
  return backend == BackendKind::kHost ? ".cpp" : traits_of(parse_candidate(source).language).extension;
}

/// Judges sources, with all the tests that were proposed so far.
class Judge {
 public:
  /// @param language  of MethodOptions
  Judge(Referee& referee, const Candidate& start, const std::string& language)
      : referee_(referee), start_(start), asked_(language_of(language).value_or(Language::kCpp)) {}

  /// Tests of a record: added when something is judged, which may need another machine than reading the record does.
  void remember(const MoreTests& more) {
    recorded_.shapes.insert(recorded_.shapes.end(), more.shapes.begin(), more.shapes.end());
    recorded_.seeds.insert(recorded_.seeds.end(), more.seeds.begin(), more.seeds.end());
  }

  Assessment judge(const std::string& source, const std::string& against, const MoreTests& more) {
    std::variant<Candidate, Finding> read = read_candidate(source);
    add(std::exchange(recorded_, {}), false);
    add(more, true);
    if (auto* rejected = std::get_if<Finding>(&read)) {
      Assessment made;
      made.finding = std::move(*rejected);
      return made;
    }
    const Candidate& candidate = std::get<Candidate>(read);
    if (candidate.language != asked_ && candidate.language != start_.language) {
      Assessment made;
      made.finding = {
          Verdict::kStaticReject,
          std::string("it is in ") + traits_of(candidate.language).word + ", the run is in " + traits_of(asked_).word,
          {}};
      return made;
    }
    return referee_.assess(candidate, start_, parse_or_start(against, start_));
  }

 private:
  void add(const MoreTests& more, bool is_said) {
    const auto unless_refused = [&](const std::string& what, const auto& add_it) {
      try {
        add_it();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kBadData) throw;
        if (is_said) log_warning("a proposed " + what + " is left out: " + error.what());
      }
    };
    for (const Variables& dims : more.shapes)
      unless_refused("shape, " + text_of(dims) + ",", [&] { referee_.add_shape(dims, start_); });
    for (const std::uint64_t seed : more.seeds) unless_refused("seed", [&] { referee_.add_seed(seed); });
  }

  Referee& referee_;
  const Candidate& start_;
  Language asked_;  ///< "host", "cuda" and "cute" are no languages of candidates, but ways to write C++
  MoreTests recorded_{};
};

Json run_facts(const Case& given, Backend& backend, const OptimizeOptions& options) {
  return {{"version", 1},
          {"program", std::string("salient-kernels ") + kVersion},
          {"case", given.name},
          {"backend", word_of(backend.kind())},
          {"generator", options.generator},
          {"options", json_of(options.method)},
          {"prices", json_of(options.prices)},
          {"samples", options.referee.samples},
          {"environment", backend.environment()}};
}

/// What the live part of a run writes.
OnRecord writer(Ledger& ledger, BackendKind backend) {
  return [&ledger, backend](const std::string& kind, Json facts, const std::map<std::string, std::string>& texts) {
    for (const auto& [key, text] : texts) facts[key] = ledger.put(text);
    ledger.append(kind, facts);
    if (kind == "best") ledger.set_best(facts, texts.at("source"), extension_of(texts.at("source"), backend));
  };
}

/// Whether the last candidate was IMPOSSIBLE, and the run ended with it.
bool is_stopped(const std::vector<Json>& records) {
  if (records.size() < 3 || records.back()["kind"] != "end") return false;
  const Json& last = records[records.size() - 2];
  return last["kind"] == "assessment" && text_of(last, "verdict") == word_of(Verdict::kImpossible);
}

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// An answer or an assessment, with the seconds that it took.
template <class Make>
auto timed(Make make) {
  const Clock::time_point begin = Clock::now();
  auto made = make();
  made.seconds = seconds_since(begin);
  return made;
}

/// Time of a call, and tokens and money of a run, which leave it open when they are spent, to be continued later.
class Limits {
 public:
  Limits(const OptimizeOptions& options, const Prices& prices) : options_(options), prices_(prices) {
    if (options.budget_cost > 0 && prices.asked + prices.answered == 0)
      fail(ErrorKind::kUsage, "a budget in money needs prices of tokens, which this run has not");
  }

  Answer counted(Answer answer) {
    spent_ += {answer.tokens_asked, answer.tokens_answered, 0};
    return answer;
  }

  /// To be called before every action. @throws Waiting when one is spent, Interrupted
  void stop_if_over() const {
    stop_if_interrupted();
    if (options_.budget_seconds > 0 && seconds_since(begin_) > options_.budget_seconds)
      throw Waiting{"paused: the time for this call is over"};
    if (options_.budget_tokens > 0 && spent_.tokens() >= options_.budget_tokens)
      throw Waiting{"paused: " + std::to_string(spent_.tokens()) + " tokens are spent, of " +
                    std::to_string(options_.budget_tokens)};
    if (const double cost = cost_of(spent_, prices_); options_.budget_cost > 0 && cost >= options_.budget_cost)
      throw Waiting{"paused: " + fixed(cost, 4) + " is spent, of " + fixed(options_.budget_cost, 4)};
  }

 private:
  const OptimizeOptions& options_;
  Prices prices_;
  Spent spent_{};
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

RunSummary optimize(const Case& given, Backend& backend, Generator& generator, const OptimizeOptions& options,
                    const std::filesystem::path& workbench, const std::filesystem::path& folder) {
  const std::filesystem::path start_file = given.start(backend.kind());
  if (start_file.empty()) fail(ErrorKind::kUsage, "case " + given.name + " has no start kernel of this back end");
  const Prompts prompts(workbench / "prompts");
  const Candidate start = parse_candidate(read_text_file(start_file));
  const MethodContext context{.given = &given,
                              .prompts = &prompts,
                              .backend = backend.kind(),
                              .start = start.source,
                              .options = options.method,
                              .machine = backend.environment()};
  const std::unique_ptr<Method> method = make_method(context);
  Limits limits(options, options.prices);
  Referee referee(backend, given, options.referee);
  const Assessment of_start = referee.check(start);
  if (!is_correct(of_start.finding.verdict))
    fail(ErrorKind::kBadData, start_file.string() + ": the start kernel is rejected: " +
                                  word_of(of_start.finding.verdict) + ", " + of_start.finding.reason);

  Judge judge(referee, start, options.method.language);
  Ledger ledger(folder);
  Json first = run_facts(given, backend, options);
  first["start"] = ledger.put(start.source);
  first["case_text"] = ledger.put(read_text_file(given.file));
  if (word_of(given, workbench / "cases") != given.name) first["case_file"] = given.file.string();
  if (const auto reference = reference_file(given)) first["reference_text"] = ledger.put(read_text_file(*reference));
  first["prompts"] = ledger.put(prompts.to_text());
  ledger.append("run", first);
  ledger.set_best({{"case", given.name}, {"of_start", 1}, {"candidate", 0}}, start.source,
                  extension_of(start.source, backend.kind()));
  const Sources sources{
      .ask = [&](const Request& request) { return limits.counted(timed([&] { return generator.ask(request); })); },
      .judge = [&](const std::string& source, const std::string& against,
                   const MoreTests& more) { return timed([&] { return judge.judge(source, against, more); }); },
      .is_over = [&] { return limits.stop_if_over(), false; },
      .prices = options.prices};
  return run_method(*method, start.source, sources, writer(ledger, backend.kind()));
}

RunSummary continue_run(Backend& backend, Generator& generator, const OptimizeOptions& options,
                        const std::filesystem::path& workbench, const std::filesystem::path& folder) {
  std::vector<Json> records;
  Ledger ledger(folder, records);
  if (options.judges_again && is_stopped(records)) {
    ledger.append("again", {{"reason", "a person looked at it"}});
    records = load_ledger(folder);
  }
  RecordedRun record(folder, std::move(records));
  const RunRecipe recipe = read_recipe(folder, record.first(), workbench);
  if (!record.end_reason().empty()) return replay_run(folder, workbench);
  if (const auto reference = reference_file(recipe.given))
    if (sha256(read_text_file(*reference)) != text_of(record.first(), "reference_text"))
      fail(ErrorKind::kBadData, reference->string() + ": is not the reference that the run began with");
  const Candidate start = parse_candidate(recipe.start);
  const std::unique_ptr<Method> method = make_method(recipe.context());
  RefereeOptions referee_options = options.referee;
  if (const int samples = number_of(record.first(), "samples"); samples > 0) referee_options.samples = samples;
  Referee referee(backend, recipe.given, referee_options);
  Judge judge(referee, start, recipe.options.language);
  const OnRecord write = writer(ledger, recipe.backend);
  Limits limits(options, recipe.prices);
  const Sources sources{
      .ask =
          [&](const Request& request) {
            return limits.counted(record.is_at_end() ? timed([&] { return generator.ask(request); }) : record.answer());
          },
      .judge =
          [&](const std::string& source, const std::string& against, const MoreTests& more) {
            if (record.is_at_end()) return timed([&] { return judge.judge(source, against, more); });
            judge.remember(more);
            return record.assessment();
          },
      .is_over =
          [&] {
            if (record.is_at_end()) limits.stop_if_over();
            return false;
          },
      .is_recorded = [&] { return !record.is_at_end(); },
      .prices = recipe.prices};
  return run_method(*method, recipe.start, sources,
                    [&](const std::string& kind, Json facts, const std::map<std::string, std::string>& texts) {
                      if (record.is_at_end())
                        write(kind, std::move(facts), texts);
                      else
                        record.compare(kind, facts, texts);
                    });
}

std::filesystem::path new_run_folder(const std::filesystem::path& parent, const std::string& name) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  (void)localtime_r(&now, &local);
  char text[32];
  (void)std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local);
  return parent / name / (std::string(text) + "-" + std::to_string(getpid()));
}

}  // namespace salient::workbench
