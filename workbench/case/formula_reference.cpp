// workbench/case/formula_reference.cpp - right answers by the formulas of a case file, or by its program.
#include <algorithm>

#include "core/error.h"
#include "workbench/case/formula.h"
#include "workbench/case/reference.h"
#include "workbench/case/reference_program.h"

namespace salient::workbench {
namespace {

class FormulaReference final : public Reference {
 public:
  explicit FormulaReference(const Problem& problem) : problem_(problem) {
    for (const std::string& text : problem.definition().formulas) formulas_.emplace_back(text, problem.definition());
  }

  std::vector<ResultPart> row(std::size_t row) const override {
    for (const Formula& formula : formulas_) {
      const std::size_t count = problem_.elements(formula.output()), rows = (count + kFormulaRow - 1) / kFormulaRow;
      if (row < rows) return {part_of(formula, row * kFormulaRow, std::min(count, (row + 1) * kFormulaRow))};
      row -= rows;
    }
    require(false, "a row of the formulas");
    return {};
  }

 private:
  ResultPart part_of(const Formula& formula, std::size_t first, std::size_t end) const {
    ResultPart part{formula.output(), first};
    Formula::Place place = formula.place_of(problem_);
    for (std::size_t i = first; i < end; ++i) {
      const Estimated right = formula.at(problem_, place, i);
      part.add(right.value, right.magnitude);
      part.worst.push_back(std::max(right.worst, right.magnitude));
    }
    return part;
  }

  const Problem& problem_;
  std::vector<Formula> formulas_{};
};

}  // namespace

std::unique_ptr<Reference> make_of_case_file(const std::string& name, const Problem& problem) {
  if (name == "formula") return std::make_unique<FormulaReference>(problem);
  if (name == "python" || name == "command") return make_program_reference(problem);
  return nullptr;
}

}  // namespace salient::workbench
