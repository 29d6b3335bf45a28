// workbench/case/formula_node.h - an expression of a formula as a tree, and its value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workbench/case/formula.h"

namespace salient::workbench {

enum class FormulaStep : std::uint8_t {
  kNumber,
  kSlot,
  kElement,  // leaves, and a buffer's element
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kNegate,  //
  kAbs,
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kTanh,
  kErf,
  kSin,
  kCos,
  kSigmoid,
  kFloor,  // of one argument
  kMin,
  kMax,
  kPow,
  kMod,  // of two
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kUnequal,
  kWhere,  // a comparison is 0 or 1
  kSum,
  kMaximum,  // slot, from, to, term
  kLet,      // slot, value, expression
};

struct Formula::Node {
  FormulaStep step = FormulaStep::kNumber;
  double number = 0;       ///< of kNumber
  std::size_t place = 0;   ///< of kSlot, kSum, kMaximum and kLet: which slot; of kElement: which buffer
  std::vector<Node> of{};  ///< arguments
};

/// The expression's value where `slots` holds the values of sizes and indices. @throws as Formula::at()
Estimated value_of(const Formula::Node& node, const Problem& problem, std::vector<Estimated>& slots);

}  // namespace salient::workbench
