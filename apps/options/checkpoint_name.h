// apps/options/checkpoint_name.h - what --checkpoint may be: a name inside the run, no path.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/field_problem.h"

namespace salient::options {

inline bool is_checkpoint_name(std::string_view name) {
  constexpr std::string_view kPrefix = "epoch-";
  if (!name.starts_with(kPrefix)) return name == "best" || name == "latest";
  name.remove_prefix(kPrefix.size());
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

inline void check_checkpoint_name(std::vector<FieldProblem>& found, const std::string& name) {
  check_field(found, is_checkpoint_name(name), "checkpoint", "best, latest or epoch-NNNN, not '" + name + "'");
}

}  // namespace salient::options
