// workbench/method/until.cpp - any method, ended when the best kernel is as near to the measured bound as was asked.
#include <utility>

#include "core/number_text.h"
#include "workbench/method/method.h"

namespace salient::workbench {
namespace {

class Until final : public Method {
 public:
  Until(std::unique_ptr<Method> method, double percent) : method_(std::move(method)), percent_(percent) {}

  Action begin() override {
    Action first = method_->begin();
    is_start_ = first.is_start;
    return first;
  }

  Action answered(const Answer& answer) override { return method_->answered(answer); }

  Action judged(const Assessment& assessment) override {
    const bool is_candidate = !std::exchange(is_start_, false);
    Action next = method_->judged(assessment);
    if (!is_candidate || next.kind == Action::Kind::kFinish || assessment.finding.verdict != Verdict::kAccepted)
      return next;
    const double reached = 100 * share_of_floor(assessment.timing);
    if (reached < percent_) return next;
    return {.kind = Action::Kind::kFinish,
            .reason = fixed(reached, 1) + " % of the measured bound, " + fixed(percent_, 1) + " % were asked for"};
  }

 private:
  std::unique_ptr<Method> method_;
  double percent_;
  bool is_start_ = false;
};

}  // namespace

std::unique_ptr<Method> make_until(std::unique_ptr<Method> method, double percent) {
  return std::make_unique<Until>(std::move(method), percent);
}

}  // namespace salient::workbench
