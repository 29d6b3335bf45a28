// core/field_problem.h - a rule that a choice breaks, as a fact about a field. Programs print it about their option.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace salient {

/// @param field  as a user may choose it: "hidden", "batch-size"
/// @param rule   what it must be: "1 to 65536"
struct FieldProblem {
  std::string field;
  std::string rule;
};

/// Adds {field, rule} to `found` unless it holds.
inline void check_field(std::vector<FieldProblem>& found, bool holds, std::string field, std::string rule) {
  if (!holds) found.push_back({std::move(field), std::move(rule)});
}

}  // namespace salient
