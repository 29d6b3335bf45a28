// workbench/method/astra.cpp - the method of Astra (arXiv 2509.07506): an existing kernel, improved in rounds by a
// planner, a
// coder, a tester and a profiler, who share a log of (round, correctness, performance).
//
// Where we differ: correctness is the referee's; the tester can add shapes and seeds to its tests and
// nothing else.
#include <algorithm>

#include "core/error.h"
#include "workbench/method/answers.h"
#include "workbench/method/method.h"

namespace salient::workbench {
namespace {

constexpr int kRounds = 5;
constexpr std::size_t kMaxText = 8000;

class Astra final : public Method {
 public:
  explicit Astra(const MethodContext& context)
      : context_(context),
        rounds_(context.options.rounds > 0 ? context.options.rounds : kRounds),
        best_(context.start) {
    if (best_.empty())
      fail(ErrorKind::kUsage, "astra improves a kernel, and the case has no start kernel of this back end");
  }

  Action begin() override {
    if (!begins_with_start(context_)) return first_round();
    phase_ = Phase::kStart;
    return measure_start(context_);
  }

  Action first_round() {
    if (!has("tester")) return next_round();
    phase_ = Phase::kTest;
    return ask("tester", AnswerKind::kShapes, {{"task", task_text(context_)}, {"kernel", quoted(best_)}});
  }

  Action answered(const Answer& answer) override {
    const std::string problem = take(answer);
    if (!problem.empty())
      log_ += "round " + std::to_string(round_) + ": no usable answer of the " + role_ + ": " + problem + "\n";
    Action next = phase_ == Phase::kPlan                      ? ask_coder()
                  : phase_ == Phase::kCode && problem.empty() ? judge()
                                                              : next_round();
    next.refused = problem;
    return next;
  }

  Action judged(const Assessment& assessment) override {
    const Finding& finding = assessment.finding;
    if (phase_ == Phase::kStart) {
      profile_ = "of the kernel above:\n" + profile_text(assessment);
      return first_round();
    }
    log_ += "round " + std::to_string(round_) + ": " + word_of(finding.verdict) + ", " + finding.reason +
            "\n  it began: " + opening_comment(current_) + "\n";
    if (finding.verdict == Verdict::kImpossible)
      return {.kind = Action::Kind::kFinish, .reason = "stopped: " + finding.reason};
    if (finding.verdict == Verdict::kAccepted) best_ = current_;
    failure_ = is_correct(finding.verdict) ? "" : finding_text(finding);
    const bool is_shown = context_.options.profile != ProfilePolicy::kNever && is_correct(finding.verdict);
    measured_ = is_shown ? profile_text(assessment) : "not shown\n";
    profile_ = measured_;
    if (!has("profiler") || !is_shown || round_ == rounds_) return next_round();
    phase_ = Phase::kProfile;
    return ask("profiler", AnswerKind::kText, {{"kernel", quoted(current_)}, {"measured", measured_}, {"log", log_}});
  }

 private:
  enum class Phase { kStart, kTest, kPlan, kCode, kProfile };

  bool has(const char* role) const {
    const auto& roles = context_.options.roles;
    return std::find(roles.begin(), roles.end(), role) != roles.end();
  }

  /// Stores what the phase asked for. @return why it cannot, or ""
  std::string take(const Answer& answer) {
    try {
      if (!answer.is_there) return answer.error;
      if (phase_ == Phase::kTest) more_ = tests_in(answer.text);
      if (phase_ == Phase::kPlan) plan_ = answer.text.substr(0, kMaxText);
      if (phase_ == Phase::kCode) current_ = source_in(answer.text);
      if (phase_ == Phase::kProfile) profile_ = measured_ + "\n" + answer.text.substr(0, kMaxText);
      return {};
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadData) throw;
      return error.what();
    }
  }

  Action next_round() {
    if (++round_ > rounds_) return {.kind = Action::Kind::kFinish, .reason = "all rounds are done"};
    plan_ = "Improve the kernel as you see fit.\n";
    if (!has("planner")) return ask_coder();
    phase_ = Phase::kPlan;
    return ask("planner", AnswerKind::kText,
               {{"task", task_text(context_)},
                {"kernel", quoted(best_)},
                {"menu", menu_text(context_)},
                {"log", log_text()},
                {"failure", failure_text()},
                {"profile", profile_}});
  }

  Action ask_coder() {
    phase_ = Phase::kCode;
    return ask("coder", AnswerKind::kSource,
               {{"task", task_text(context_)},
                {"kernel", quoted(best_)},
                {"plan", plan_},
                {"log", log_text()},
                {"failure", failure_text()}});
  }

  Action judge() {
    Action action{.kind = Action::Kind::kJudge, .source = current_, .against = best_, .more = more_};
    more_ = {};
    return action;
  }

  std::string log_text() const { return log_.empty() ? "nothing yet\n" : log_; }
  std::string failure_text() const {
    return failure_.empty() ? "The last candidate was correct, or there was none.\n" : failure_;
  }

  Action ask(const std::string& role, AnswerKind answer, const Fillings& fillings) {
    role_ = role;
    return {.kind = Action::Kind::kAsk,
            .request = {.round = round_,
                        .role = role,
                        .answer = answer,
                        .system = context_.prompts->fill("system_" + role),
                        .prompt = context_.prompts->fill("astra_" + role, fillings)}};
  }

  MethodContext context_;
  int rounds_, round_ = 0;
  Phase phase_ = Phase::kPlan;
  std::string best_, current_{}, plan_{}, role_{};
  std::string log_{}, failure_{}, measured_{}, profile_ = "not measured yet\n";
  MoreTests more_{};
};

}  // namespace

std::unique_ptr<Method> make_astra(const MethodContext& context) { return std::make_unique<Astra>(context); }

}  // namespace salient::workbench
