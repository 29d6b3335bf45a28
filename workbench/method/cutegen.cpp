// workbench/method/cutegen.cpp - the method of CuTeGen (arXiv 2604.01489): one evolving kernel, written anew from its
// specification, then optimised depth by depth; what fails is diagnosed first and patched by lines second.
//
// Where we differ: a depth starts from the best kernel, not from the last that passed, so that a bad depth cannot be
// inherited.
#include <algorithm>

#include "core/error.h"
#include "workbench/method/answers.h"
#include "workbench/method/method.h"

namespace salient::workbench {
namespace {

constexpr int kDepths = 10;

class CuteGen final : public Method {
 public:
  explicit CuteGen(const MethodContext& context)
      : context_(context), depths_(context.options.rounds > 0 ? context.options.rounds : kDepths) {}

  Action begin() override { return next_depth(); }

  Action answered(const Answer& answer) override {
    try {
      if (!answer.is_there) fail(ErrorKind::kBadData, answer.error);
      if (phase_ == Phase::kDiagnosis) {
        diagnosis_ = answer.text.substr(0, 8000);
        return ask_repair();
      }
      current_ = phase_ == Phase::kRepair ? apply_edits(current_, edits_in(answer.text)) : source_in(answer.text);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadData) throw;
      return without_answer(error.what());
    }
    return {.kind = Action::Kind::kJudge, .source = current_, .against = parent_};
  }

  Action judged(const Assessment& assessment) override {
    const Finding& finding = assessment.finding;
    note(std::string(word_of(finding.verdict)) + ", " + finding.reason + "\n  it began: " + opening_comment(current_));
    if (finding.verdict == Verdict::kImpossible)
      return {.kind = Action::Kind::kFinish, .reason = "stopped: " + finding.reason};
    if (!is_correct(finding.verdict)) {
      failure_ = finding;
      return repair_ < context_.options.repairs ? ask_diagnosis() : next_depth();
    }
    if (parent_.empty() || finding.verdict == Verdict::kAccepted) {
      parent_ = current_;
      parent_profile_ = profile_text(assessment);
    }
    return next_depth();
  }

 private:
  enum class Phase { kWrite, kDiagnosis, kRepair };

  void note(const std::string& what) {
    history_ += "depth " + std::to_string(depth_) + (repair_ > 0 ? " repair " + std::to_string(repair_) : "") + " (" +
                stage() + "): " + what + "\n";
  }

  Action without_answer(const std::string& why) {
    note("no usable answer: " + why);
    const bool may_repair = phase_ != Phase::kWrite && repair_ < context_.options.repairs;
    Action next = may_repair ? ask_diagnosis() : next_depth();
    next.refused = why;
    return next;
  }

  /// First depth from which a prompt holds measurements.
  int profile_depth() const {
    switch (context_.options.profile) {
      case ProfilePolicy::kFromStart: return 1;
      case ProfilePolicy::kNever: return depths_ + 1;
      case ProfilePolicy::kLate: break;
    }
    const std::string& kind = context_.given->kind;
    return kind == "elementwise" ? 2 : kind == "gemm" ? 6 : 4;
  }

  std::string stage() const {
    if (parent_.empty()) return "correct";
    if (depth_ >= depths_ - 1 && depths_ > 2) return "tune";
    return depth_ >= profile_depth() ? "profile" : "structure";
  }

  Action next_depth() {
    if (++depth_ > depths_) return {.kind = Action::Kind::kFinish, .reason = "all depths are done"};
    repair_ = 0;
    phase_ = Phase::kWrite;
    const bool is_first = parent_.empty();
    Fillings fillings = {{"task", task_text(context_)}, {"history", history_.empty() ? "nothing yet\n" : history_}};
    if (!is_first) {
      fillings["kernel"] = quoted(parent_);
      fillings["menu"] = menu_text(context_);
      fillings["stage"] = context_.prompts->fill("stage_" + stage());
      fillings["profile"] = depth_ >= profile_depth() ? parent_profile_ : "not shown at this stage\n";
    }
    return ask("coder", AnswerKind::kSource, is_first ? "cutegen_synthesis" : "cutegen_optimise", fillings);
  }

  Action ask_diagnosis() {
    ++repair_;
    phase_ = Phase::kDiagnosis;
    return ask("diagnosis", AnswerKind::kText, "cutegen_diagnosis",
               {{"task", task_text(context_)},
                {"kernel", with_line_numbers(quoted(current_))},
                {"failure", finding_text(failure_)}});
  }

  Action ask_repair() {
    phase_ = Phase::kRepair;
    return ask("repair", AnswerKind::kEdits, "cutegen_repair",
               {{"kernel", with_line_numbers(quoted(current_))},
                {"failure", finding_text(failure_)},
                {"diagnosis", diagnosis_}});
  }

  Action ask(const std::string& role, AnswerKind answer, const std::string& prompt, const Fillings& fillings) const {
    return {.kind = Action::Kind::kAsk,
            .request = {.round = depth_,
                        .role = role,
                        .answer = answer,
                        .system = context_.prompts->fill("system_" + role),
                        .prompt = context_.prompts->fill(prompt, fillings)}};
  }

  MethodContext context_;
  int depths_, depth_ = 0, repair_ = 0;
  Phase phase_ = Phase::kWrite;
  std::string parent_{}, parent_profile_{};  ///< the best kernel so far; empty until one is correct
  std::string current_{}, diagnosis_{}, history_{};
  Finding failure_{};
};

}  // namespace

std::unique_ptr<Method> make_cutegen(const MethodContext& context) { return std::make_unique<CuteGen>(context); }

}  // namespace salient::workbench
