// workbench/method/driver.cpp - see driver.h.
#include "workbench/method/driver.h"

#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "core/number_text.h"
#include "workbench/ledger/records.h"
#include "workbench/ledger/sha256.h"

namespace salient::workbench {
namespace {

class Run {
 public:
  Run(Method& method, const std::string& start, const Sources& sources, const OnRecord& on_record)
      : method_(method), start_(start), sources_(sources), on_record_(on_record) {
    summary_.best = start;
  }

  RunSummary finish() {
    Action action = method_.begin();
    while (action.kind != Action::Kind::kFinish) {
      if (sources_.is_over && sources_.is_over()) {
        action.reason = kEndedEarly;
        break;
      }
      action = action.kind == Action::Kind::kAsk ? ask(action.request) : judge(action);
    }
    summary_.reason = action.reason;
    summary_.cost = cost_of(summary_.spent, sources_.prices);
    on_record_("end", {{"reason", action.reason}, {"of_start", summary_.best_of_start}}, {});
    return summary_;
  }

 private:
  Action ask(Request request) {
    request.id = ++summary_.requests;
    on_record_(
        "request",
        {{"id", request.id}, {"round", request.round}, {"role", request.role}, {"wants", word_of(request.answer)}},
        {{"request", text_of(request)}});
    const bool is_silent = sources_.is_recorded();
    const Answer answer = sources_.ask(request);
    Action next = method_.answered(answer);
    const std::string& problem = answer.is_there ? next.refused : answer.error;
    if (!problem.empty()) {
      ++summary_.failed_answers;
      if (!is_silent) log_warning("round " + std::to_string(request.round) + ", " + request.role + ": " + problem);
    }
    Json facts = {{"id", request.id}, {"error", answer.error}, {"refused", next.refused}};
    if (!answer.author.empty()) facts["author"] = answer.author;
    if (answer.tokens_asked > 0) facts["tokens_asked"] = answer.tokens_asked;
    if (answer.tokens_answered > 0) facts["tokens_answered"] = answer.tokens_answered;
    if (answer.seconds > 0) facts["seconds"] = answer.seconds;
    summary_.spent += {answer.tokens_asked, answer.tokens_answered, answer.seconds};
    on_record_("answer", facts, {{"answer", answer.text}});
    return next;
  }

  Action judge(const Action& action) {
    const std::string& against = action.against.empty() ? start_ : action.against;
    const bool is_silent = sources_.is_recorded();
    const Assessment made = sources_.judge(action.source, against, action.more);
    summary_.spent.seconds += made.seconds;
    if (!action.is_start) {
      ++summary_.judged;
      ++summary_.verdicts[word_of(made.finding.verdict)];
    }
    const std::string name = action.is_start ? "the start kernel" : "candidate " + std::to_string(summary_.judged);
    if (!is_silent) log_info(name + ": " + word_of(made.finding.verdict) + ", " + made.finding.reason);
    Json facts = json_of(made);
    facts["candidate"] = summary_.judged;
    if (!action.parent.empty()) facts["parent"] = sha256(action.parent);
    facts["more_shapes"] = action.more.shapes;
    if (!action.more.seeds.empty()) facts["more_seeds"] = action.more.seeds;
    on_record_("assessment", facts, {{"source", action.source}, {"against", against}, {"log", made.finding.log}});
    if (made.finding.verdict == Verdict::kAccepted && !action.is_start) {
      ++summary_.accepted;
      if (made.decision.of_start > summary_.best_of_start) record_best(action.source, made);
    }
    return method_.judged(made);
  }

  void record_best(const std::string& source, const Assessment& made) {
    summary_.best_of_start = made.decision.of_start;
    summary_.best = source;
    Timing before = made.timing;  // the best kernel's times beside the candidate's
    for (ShapeTimes& times : before.shapes) times.candidate = times.best;
    const Step step{.from = 100 * share_of_floor(before),
                    .to = 100 * share_of_floor(made.timing),
                    .run = summary_.spent,
                    .step = summary_.spent - std::exchange(spent_before_, summary_.spent)};
    Json facts = json_of(step, sources_.prices);
    facts["candidate"] = summary_.judged;
    facts["of_start"] = made.decision.of_start;
    on_record_("best", facts, {{"source", source}});
  }

  Method& method_;
  std::string start_;
  const Sources& sources_;
  const OnRecord& on_record_;
  RunSummary summary_{};
  Spent spent_before_{};  ///< when the last candidate became the best
};

}  // namespace

RunSummary run_method(Method& method, const std::string& start, const Sources& sources, const OnRecord& on_record) {
  return Run(method, start, sources, on_record).finish();
}

}  // namespace salient::workbench
