// workbench/case/elementwise_reference.cpp - out[i] = f(x[i]) in double precision, for the activations.
#include <algorithm>
#include <cmath>

#include "workbench/case/logistic.h"
#include "workbench/case/reference.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kRow = 1024;  // case files of elementwise cases say rows ceil(n, 1024)

/// f and how errors of its parts scale: a function that subtracts or exponentiates says so in its magnitude.
struct Function {
  const char* name;
  double (*value)(double);
  double (*magnitude)(double);
};

/// x / (1 + exp(-x)) is 0 in f32 where exp(-x) overflows, up to 2.6e-37 away from the right answer.
constexpr double kUnderflow = 1e-30;

/// exp(x) in a shorter format has the relative error |x| eps.
double exponential_factor(double x) { return 1 + std::abs(x); }

constexpr Function kFunctions[] = {
    {"softsign", [](double x) { return x / (1 + std::abs(x)); },
     [](double x) { return std::abs(x) / (1 + std::abs(x)); }},
    {"swish", [](double x) { return x * logistic(x); },
     [](double x) { return std::abs(x * logistic(x)) * exponential_factor(x) + kUnderflow; }},
    {"gelu", [](double x) { return 0.5 * x * (1 + std::erf(x * M_SQRT1_2)); }, [](double x) { return std::abs(x); }},
    {"relu", [](double x) { return x < 0 ? 0.0 : x; }, [](double x) { return x < 0 ? 0.0 : std::abs(x); }},
    {"sigmoid", logistic, [](double x) { return logistic(x) * exponential_factor(x); }},
    {"tanh", [](double x) { return std::tanh(x); }, [](double x) { return std::min(1.0, std::abs(x)); }},
};

class Elementwise final : public Reference {
 public:
  Elementwise(const Function& function, const Problem& problem)
      : function_(function), problem_(problem), x_(problem.index_of("x")), out_(problem.index_of("out")) {}

  std::vector<ResultPart> row(std::size_t row) const override {
    ResultPart part{out_, row * kRow};
    const std::size_t end = std::min(problem_.elements(x_), part.first + kRow);
    for (std::size_t i = part.first; i < end; ++i) {
      const double x = problem_.at(x_, i);
      part.add(function_.value(x), function_.magnitude(x));
    }
    return {part};
  }

 private:
  const Function& function_;
  const Problem& problem_;
  std::size_t x_, out_;
};

}  // namespace

std::unique_ptr<Reference> make_elementwise(const std::string& name, const Problem& problem) {
  for (const Function& function : kFunctions)
    if (name == function.name) return std::make_unique<Elementwise>(function, problem);
  return nullptr;
}

}  // namespace salient::workbench
