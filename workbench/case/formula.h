// workbench/case/formula.h - a case's reference as an expression, as in
// "c[i < m, j < n] = sum(t, 0, k, a[i*k+t] * b[t*n+j])".
//
// Written by hand: what it computes beside each value is how rounding errors of shorter formats scale.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "workbench/case/problem.h"

namespace salient::workbench {

inline constexpr int kMaxFormulaDepth = 64;  ///< of parentheses and calls in one another

/// A value in double precision, and how large errors of f32 arithmetic may be, in units of 2^-24.
struct Estimated {
  double value = 0;
  double magnitude = 0;  ///< of roundings that cancel as often as not: the sum of the absolute terms of every step
  double worst = 0;      ///< where c = 4: of roundings of additions in any order, all to the same side
};

/// OUT[I < EXTENT, J < EXTENT, ...] = EXPRESSION, row-major. OUT[I] alone runs over all elements.
///
/// An expression has + - * /, parentheses, numbers, pi, the sizes of the case, indices, NAME[EXPRESSION] of buffers
/// that are read, abs exp log sqrt rsqrt tanh erf sin cos sigmoid floor of one argument, min max pow mod of two,
/// where(A < B, X, Y) with < <= > >= == !=, and sum(I, FROM, TO, TERM) and maximum(I, FROM, TO, TERM) over I from FROM
/// to TO - 1. The sum of nothing is 0, its maximum minus infinity. let(NAME, VALUE, EXPRESSION) computes VALUE once.
class Formula {
 public:
  /// @throws Error{kBadData}, one line, for what is not of this form or names what the case lacks
  Formula(const std::string& text, const Case& given);
  ~Formula();
  Formula(Formula&&) noexcept;
  Formula& operator=(Formula&&) noexcept;

  std::size_t output() const;  ///< index of the buffer
  bool has_functions() const;  ///< beyond + - * / and sums
  std::string cost() const;    ///< expression of the case's sizes: about how many steps one element needs
  /// @throws Error{kBadData} unless the extents make the number of the buffer's elements
  void check(const Variables& dims) const;

  /// Sizes of one problem.
  struct Place {
    std::vector<Estimated> slots{};
    std::vector<std::size_t> extents{};
  };
  Place place_of(const Problem& problem) const;
  /// Element `index` of the output. @throws Error{kBadData} for a place outside of a buffer
  Estimated at(const Problem& problem, Place& place, std::size_t index) const;

  struct Node;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Elements of one row of references that are formulas or programs.
inline constexpr std::size_t kFormulaRow = 16, kProgramRow = 1024;

}  // namespace salient::workbench
