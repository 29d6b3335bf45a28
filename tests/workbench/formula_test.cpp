// tests/workbench/formula_test.cpp - references of case files: formulas, Python files and other programs.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/workbench/bench_support.h"
#include "workbench/case/formula.h"
#include "workbench/case/reference.h"
#include "workbench/case/reference_program.h"
#include "workbench/referee/judge.h"

namespace salient::workbench {
namespace {

using test::cases_folder;

/// A case of the workbench with formulas in place of its reference.
Case with_formulas(const std::string& name, const std::string& formulas) {
  const std::filesystem::path file = cases_folder() / (name + ".case");
  std::string text = read_text_file(file);
  const std::size_t at = text.find("reference ");
  return parse_case(text.substr(0, at) + "reference formula\n" + formulas + text.substr(text.find('\n', at)), file);
}

std::vector<double> values_of(const Problem& problem, std::size_t output) {
  const std::unique_ptr<Reference> reference = make_reference(problem);
  std::vector<double> values(problem.elements(output), std::nan(""));
  const auto rows = static_cast<std::size_t>(problem.value_of(problem.definition().rows));
  for (std::size_t row = 0; row < rows; ++row)
    for (const ResultPart& part : reference->row(row))
      for (std::size_t i = 0; part.buffer == output && i < part.value.size(); ++i)
        values[part.first + i] = part.value[i];
  return values;
}

struct Twin {
  const char *name, *formula, *output;
  Variables dims;
};

TEST(Formula, GivesWhatTheWorkbenchsOwnReferencesGive) {
  const Twin twins[] = {{"softsign", "formula out[i] = x[i] / (1 + abs(x[i]))\n", "out", {{"n", 1000}}},
                        {"gelu", "formula out[i] = 0.5 * x[i] * (1 + erf(x[i] / sqrt(2)))\n", "out", {{"n", 1000}}},
                        {"relu", "formula out[i] = where(x[i] < 0, 0, x[i])\n", "out", {{"n", 1000}}},
                        {"matmul_f32",
                         "formula c[i < m, j < n] = sum(t, 0, k, a[i*k+t] * b[t*n+j])\n",
                         "c",
                         {{"m", 9}, {"n", 7}, {"k", 30}}},
                        {"gather_mean",
                         "formula out[i < rows, j < width] = let(d, indptr[i+1] - indptr[i],"
                         " sum(e, indptr[i], indptr[i+1], x[indices[e]*width + j]) / max(1, d))\n",
                         "out",
                         {{"rows", 20}, {"sources", 30}, {"edges", 90}, {"width", 5}}}};
  for (const Twin& twin : twins) {
    const Case own = load_case(cases_folder(), twin.name), by_formula = with_formulas(twin.name, twin.formula);
    const ProblemSpec spec{ShapeSet::kHidden, twin.dims, {}, 7};
    const Problem a(own, spec), b(by_formula, spec);
    const std::vector<double> right = values_of(a, a.index_of(twin.output)),
                              found = values_of(b, b.index_of(twin.output));
    ASSERT_EQ(right.size(), found.size());
    for (std::size_t i = 0; i < right.size(); ++i)
      ASSERT_NEAR(found[i], right[i], 1e-13 * (1 + std::abs(right[i]))) << twin.name << " " << i;
  }
}

TEST(Formula, ShortFactorsOfAProductShow) {
  Case given = with_formulas("matmul_f32", "formula c[i < m, j < n] = sum(t, 0, k, a[i*k+t] * b[t*n+j])\n");
  given.mean = "2";
  given.bound = "4";
  for (const std::int64_t k : {60, 700}) {
    const Problem problem(given, {ShapeSet::kHidden, {{"m", 24}, {"n", 24}, {"k", k}}, {}, 5});
    for (const int bits : {24, 11, 8}) {  // of each factor: f32's, tf32's, bf16's
      const auto shortened = [&](double value) {
        int exponent = 0;
        const double scale = std::ldexp(1, bits);
        const double fraction = std::frexp(value, &exponent);
        return std::ldexp(std::nearbyint(fraction * scale) / scale, exponent);
      };
      Outputs outputs(3);
      outputs[2].resize(problem.bytes(2));
      for (std::size_t i = 0; i < 24; ++i)
        for (std::size_t j = 0; j < 24; ++j) {
          float sum = 0;
          for (std::size_t t = 0; t < static_cast<std::size_t>(k); ++t)
            sum += static_cast<float>(shortened(problem.at(0, i * static_cast<std::size_t>(k) + t)) *
                                      shortened(problem.at(1, t * 24 + j)));
          store_element(ElementType::kF32, outputs[2].data(), i * 24 + j, sum);
        }
      const std::optional<Finding> found = judge_numbers(problem, outputs, 1);
      EXPECT_EQ(found.has_value(), bits < 24) << bits << " bits, k " << k << (found ? found->reason : "");
    }
  }
}

TEST(Formula, WhatIsNoneIsRefusedWithItsText) {
  const Case given = load_case(cases_folder(), "matmul_f32");
  for (const char* text : {"", "c", "c[i] = ", "c[i] = q[i]", "c[i] = c[i]", "a[i] = 1", "c[m] = 1", "c[i, j] = 1",
                           "c[i < m, j < n] = i j", "c[i] = foo(1)", "c[i] = max(1)", "c[i] = sum(i, 0, 3, 1)",
                           "c[i] = sum(t, 0, 3, u)", "c[i] = (1", "c[i] = 1e999", "c[i] = let(sum, 1, 2)", "c[i < 3"})
    EXPECT_COMPLAINT(Formula(text, given), ErrorKind::kBadData, "formula");
  const std::string deep = "c[i] = " + std::string(100000, '(') + "1";
  EXPECT_COMPLAINT(Formula(deep, given), ErrorKind::kBadData, "64 levels");
  EXPECT_COMPLAINT(with_formulas("matmul_f32", ""), ErrorKind::kBadData, "c has 0 formulas");
  EXPECT_COMPLAINT(with_formulas("matmul_f32", "formula c[i < m, j < k] = 1\n"), ErrorKind::kBadData,
                   "its indices make");
  const Case outside = with_formulas("softsign", "formula out[i] = x[i+1]\n");
  const Problem problem(outside, {ShapeSet::kHidden, {{"n", 10}}, {}, 3});
  EXPECT_COMPLAINT(values_of(problem, 1), ErrorKind::kBadData, "reads x[10");
}

Case softsign_by(const salient::test::Scratch& scratch, const std::string& reference) {
  std::string text = read_text_file(cases_folder() / "softsign.case");
  const std::size_t at = text.find("reference softsign");
  text.replace(at, std::string("reference softsign").size(), "reference " + reference);
  return parse_case(text, scratch / "softsign.case");
}

TEST(ProgramReference, APythonFunctionIsAskedForEveryProblem) {
  const salient::test::Scratch scratch;
  (void)write_text_file(scratch / "mine.py",
                        "def reference(x):\n    print('hello')\n    return [v / (1 + abs(v)) for v in x]\n");
  set_reference_python("python3", std::filesystem::path(SALIENT_WORKBENCH_DIR) / "python/reference_server.py");
  const Case own = load_case(cases_folder(), "softsign"), by_python = softsign_by(scratch, "python mine.py");
  for (const std::int64_t n : {0, 1, 2000}) {
    const ProblemSpec spec{ShapeSet::kHidden, {{"n", n}}, {}, 11};
    const Problem a(own, spec), b(by_python, spec);
    EXPECT_EQ(values_of(a, 1), values_of(b, 1)) << n;
  }
}

TEST(ProgramReference, WhatItDoesWrongIsNamed) {
  const salient::test::Scratch scratch;
  const auto problem_says = [&](const std::string& reference, const std::string& says) {
    const Case given = softsign_by(scratch, reference);
    const Problem problem(given, {ShapeSet::kHidden, {{"n", 4}}, {}, 11});
    EXPECT_COMPLAINT(values_of(problem, 1), ErrorKind::kBadData, says);
  };
  set_reference_python("python3", std::filesystem::path(SALIENT_WORKBENCH_DIR) / "python/reference_server.py");
  (void)write_text_file(scratch / "short.py", "def reference(x):\n    return x[1:]\n");
  (void)write_text_file(scratch / "raises.py", "def reference(x):\n    return 1 / 0\n");
  (void)write_text_file(scratch / "wants.py", "def reference(x, y):\n    return x\n");
  (void)write_text_file(scratch / "broken.py", "def reference(x:\n");
  problem_says("python short.py", "out has 3 elements, it needs 4");
  problem_says("python raises.py", "ZeroDivisionError");
  problem_says("python wants.py", "the case has no y");
  problem_says("python broken.py", "SyntaxError");
  problem_says("python missing.py", "FileNotFoundError");
  problem_says("python short.py other", "has no function other");
  problem_says("command true", "it ended before it had answered");
  (void)write_text_file(scratch / "says.py", "input()\nprint('hello')\n");
  problem_says("command python3 says.py", "does not begin with a line of JSON");
  EXPECT_COMPLAINT(softsign_by(scratch, "python"), ErrorKind::kBadData, "reference python FILE");
  EXPECT_COMPLAINT(softsign_by(scratch, "command"), ErrorKind::kBadData, "reference command");
  EXPECT_COMPLAINT(softsign_by(scratch, "softsign twice"), ErrorKind::kBadData, "one word");
  const Case given = softsign_by(scratch, "command ./no-such-program");
  const Problem problem(given, {ShapeSet::kHidden, {{"n", 4}}, {}, 11});
  EXPECT_COMPLAINT(values_of(problem, 1), ErrorKind::kNoInput, "cannot start");
}

}  // namespace
}  // namespace salient::workbench
