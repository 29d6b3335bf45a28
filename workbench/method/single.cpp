// workbench/method/single.cpp - one agent that plans, writes and reads the measurements itself: what the others are
// compared to.
#include "core/error.h"
#include "workbench/method/answers.h"
#include "workbench/method/method.h"

namespace salient::workbench {
namespace {

constexpr int kRounds = 5;

class Single final : public Method {
 public:
  explicit Single(const MethodContext& context)
      : context_(context),
        rounds_(context.options.rounds > 0 ? context.options.rounds : kRounds),
        best_(context.start) {
    if (best_.empty()) fail(ErrorKind::kUsage, "the case has no start kernel of this back end");
  }

  Action begin() override { return begins_with_start(context_) ? measure_start(context_) : next_round(); }

  Action answered(const Answer& answer) override {
    try {
      if (!answer.is_there) fail(ErrorKind::kBadData, answer.error);
      current_ = source_in(answer.text);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadData) throw;
      log_ += "round " + std::to_string(round_) + ": no usable answer: " + error.what() + "\n";
      Action next = next_round();
      next.refused = error.what();
      return next;
    }
    return {.kind = Action::Kind::kJudge, .source = current_, .against = best_};
  }

  Action judged(const Assessment& assessment) override {
    const Finding& finding = assessment.finding;
    if (round_ == 0) {
      log_ = "the start kernel:\n" + profile_text(assessment);
      return next_round();
    }
    log_ += "round " + std::to_string(round_) + ": " + finding_text(finding);
    if (context_.options.profile != ProfilePolicy::kNever && is_correct(finding.verdict))
      log_ += profile_text(assessment);
    if (finding.verdict == Verdict::kImpossible)
      return {.kind = Action::Kind::kFinish, .reason = "stopped: " + finding.reason};
    if (finding.verdict == Verdict::kAccepted) best_ = current_;
    return next_round();
  }

 private:
  Action next_round() {
    if (++round_ > rounds_) return {.kind = Action::Kind::kFinish, .reason = "all rounds are done"};
    const Fillings fillings = {{"task", task_text(context_)},
                               {"kernel", quoted(best_)},
                               {"menu", menu_text(context_)},
                               {"log", log_.empty() ? "nothing yet\n" : log_}};
    return {.kind = Action::Kind::kAsk,
            .request = {.round = round_,
                        .role = "coder",
                        .answer = AnswerKind::kSource,
                        .system = context_.prompts->fill("system_coder"),
                        .prompt = context_.prompts->fill("single", fillings)}};
  }

  MethodContext context_;
  int rounds_, round_ = 0;
  std::string best_, current_{}, log_{};
};

}  // namespace

std::unique_ptr<Method> make_single(const MethodContext& context) { return std::make_unique<Single>(context); }

}  // namespace salient::workbench
