// workbench/case/expression.h - whole-number expressions of case files and launch lines: "min(sm*8, ceil(n, 256))".
//
// Written by hand: expression libraries compute in floating point and know names that a launch line must not have.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace salient::workbench {

/// Values of the names that an expression may use.
using Variables = std::map<std::string, std::int64_t, std::less<>>;

/// The value of `text`: + - * / %, parentheses, min(a, b), max(a, b), ceil(a, b) = a / b rounded up, numbers, names.
/// Division rounds towards zero.
///
/// @throws Error{kBadData}, one line, for anything else: an unknown name, a division by zero, a result beyond 2^62,
///         more than 64 levels of parentheses.
std::int64_t evaluate(std::string_view text, const Variables& variables);

}  // namespace salient::workbench
