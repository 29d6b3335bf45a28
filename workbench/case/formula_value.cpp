// workbench/case/formula_value.cpp - values of formulas in double precision, with the scale of rounding errors of f32.
//
// Every step adds its own rounding, |value|, to what the errors of its arguments become in it, by its derivatives.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "workbench/case/formula_node.h"
#include "workbench/case/logistic.h"

namespace salient::workbench {
namespace {

constexpr double kOfFunction = 4;  // roundings in which a GPU's functions differ from the right value

/// A step with these derivatives by its arguments, of which it rounds `own` itself.
Estimated stepped(double value, double own, double by_a, const Estimated& a, double by_b = 0, const Estimated& b = {}) {
  const auto of = [](double derivative, double error) { return error == 0 ? 0 : std::abs(derivative) * error; };
  return {value, own + of(by_a, a.magnitude) + of(by_b, b.magnitude), own + of(by_a, a.worst) + of(by_b, b.worst)};
}

/// Of one argument: value and derivative; exponentials of short formats have the relative error |argument|, too.
Estimated function_of(FormulaStep step, const Estimated& a) {
  const double x = a.value;
  const auto made = [&](double value, double derivative, double relative = kOfFunction) {
    return stepped(value, relative * std::abs(value), derivative, a);
  };
  switch (step) {
    case FormulaStep::kAbs: return {std::abs(x), a.magnitude, a.worst};
    case FormulaStep::kExp: return made(std::exp(x), std::exp(x), kOfFunction + std::abs(x));
    case FormulaStep::kLog: return made(std::log(x), 1 / x);
    case FormulaStep::kSqrt: return made(std::sqrt(x), x > 0 ? 0.5 / std::sqrt(x) : 0);
    case FormulaStep::kRsqrt: return made(1 / std::sqrt(x), 0.5 / (x * std::sqrt(x)));
    case FormulaStep::kTanh: return made(std::tanh(x), 1 - std::tanh(x) * std::tanh(x));
    case FormulaStep::kErf: return made(std::erf(x), M_2_SQRTPI * std::exp(-x * x));
    case FormulaStep::kSin: return stepped(std::sin(x), kOfFunction, std::cos(x), a);
    case FormulaStep::kCos: return stepped(std::cos(x), kOfFunction, std::sin(x), a);
    case FormulaStep::kSigmoid:
      return made(logistic(x), logistic(x) * logistic(-x), kOfFunction + std::abs(std::min(x, 0.0)));
    case FormulaStep::kFloor: return {std::floor(x), 0, 0};
    default: require(false, "a step of one argument"); return {};
  }
}

Estimated power_of(const Estimated& a, const Estimated& b) {
  const double value = std::pow(a.value, b.value), log = a.value > 0 ? std::log(a.value) : 0;
  const double by_a = a.value != 0 ? b.value * value / a.value : 0;
  return stepped(value, (kOfFunction + std::abs(b.value * log)) * std::abs(value), by_a, a, value * log, b);
}

double truth_of(FormulaStep step, double a, double b) {
  switch (step) {
    case FormulaStep::kLess: return a < b;
    case FormulaStep::kLessEqual: return a <= b;
    case FormulaStep::kGreater: return a > b;
    case FormulaStep::kGreaterEqual: return a >= b;
    case FormulaStep::kEqual: return a == b;
    default: return a != b;
  }
}

Estimated operation_of(FormulaStep step, const Estimated& a, const Estimated& b) {
  const double x = a.value, y = b.value;
  switch (step) {
    case FormulaStep::kAdd: return stepped(x + y, std::abs(x + y), 1, a, 1, b);
    case FormulaStep::kSubtract: return stepped(x - y, std::abs(x - y), 1, a, 1, b);
    case FormulaStep::kMultiply: return stepped(x * y, std::abs(x * y), y, a, x, b);
    case FormulaStep::kDivide: return stepped(x / y, std::abs(x / y), 1 / y, a, x / y / y, b);
    case FormulaStep::kPow: return power_of(a, b);
    case FormulaStep::kMod: return {x - std::floor(x / y) * y, a.magnitude, a.worst};
    case FormulaStep::kMin:
    case FormulaStep::kMax: {
      const double value = std::isnan(x) || std::isnan(y) ? std::numeric_limits<double>::quiet_NaN()
                           : step == FormulaStep::kMin    ? std::min(x, y)
                                                          : std::max(x, y);
      return {value, std::max(a.magnitude, b.magnitude), std::max(a.worst, b.worst)};
    }
    default: return {truth_of(step, x, y), 0, 0};
  }
}

/// Partial sums of values that all have one sign are as large as the result, so that random roundings of their
/// additions grow with the square root of their number; of mean zero, they do not beyond the sum of absolute terms.
Estimated sum_of(const Formula::Node& node, const Problem& problem, std::vector<Estimated>& slots) {
  const double from = value_of(node.of[0], problem, slots).value, to = value_of(node.of[1], problem, slots).value;
  Estimated all;
  double absolute = 0;
  for (double i = from; i < to; ++i) {
    slots[node.place] = {i, 0, 0};
    const Estimated term = value_of(node.of[2], problem, slots);
    all.value += term.value;
    all.magnitude += term.magnitude;
    all.worst += term.worst;
    absolute += std::abs(term.value);
  }
  const double terms = std::max(0.0, to - from);
  if (terms <= 1) return all;
  all.magnitude += absolute + std::sqrt(terms) / 8 * std::abs(all.value);
  all.worst += absolute * std::max(1.0, terms / 4);
  return all;
}

Estimated maximum_of(const Formula::Node& node, const Problem& problem, std::vector<Estimated>& slots) {
  const double from = value_of(node.of[0], problem, slots).value, to = value_of(node.of[1], problem, slots).value;
  Estimated most{-std::numeric_limits<double>::infinity(), 0, 0};
  for (double i = from; i < to; ++i) {
    slots[node.place] = {i, 0, 0};
    most = operation_of(FormulaStep::kMax, most, value_of(node.of[2], problem, slots));
  }
  return most;
}

Estimated element_of(const Formula::Node& node, const Problem& problem, std::vector<Estimated>& slots) {
  const double index = value_of(node.of[0], problem, slots).value;
  if (!(index >= 0) || index >= static_cast<double>(problem.elements(node.place)) || index != std::floor(index))
    fail(ErrorKind::kBadData, "case " + problem.definition().name + ": the formula reads " +
                                  problem.definition().buffers[node.place].name + "[" + std::to_string(index) +
                                  "], which has " + std::to_string(problem.elements(node.place)) + " elements");
  return {problem.at(node.place, static_cast<std::size_t>(index)), 0, 0};
}

}  // namespace

Estimated value_of(const Formula::Node& node, const Problem& problem, std::vector<Estimated>& slots) {
  switch (node.step) {
    case FormulaStep::kNumber: {
      const double rounding = node.number == static_cast<float>(node.number) ? 0 : std::abs(node.number);
      return {node.number, rounding, rounding};
    }
    case FormulaStep::kSlot: return slots[node.place];
    case FormulaStep::kElement: return element_of(node, problem, slots);
    case FormulaStep::kSum: return sum_of(node, problem, slots);
    case FormulaStep::kMaximum: return maximum_of(node, problem, slots);
    case FormulaStep::kNegate: {
      const Estimated a = value_of(node.of[0], problem, slots);
      return {-a.value, a.magnitude, a.worst};
    }
    case FormulaStep::kWhere:
      return value_of(node.of[value_of(node.of[0], problem, slots).value != 0 ? 1 : 2], problem, slots);
    case FormulaStep::kLet:
      slots[node.place] = value_of(node.of[0], problem, slots);
      return value_of(node.of[1], problem, slots);
    default: break;
  }
  const Estimated a = value_of(node.of[0], problem, slots);
  return node.of.size() == 1 ? function_of(node.step, a)
                             : operation_of(node.step, a, value_of(node.of[1], problem, slots));
}

}  // namespace salient::workbench
