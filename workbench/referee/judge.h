// workbench/referee/judge.h - compares what a candidate wrote with what the case asks for.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "workbench/case/problem.h"
#include "workbench/referee/arena.h"
#include "workbench/referee/verdict.h"

namespace salient::workbench {

/// Bytes that a run left in the outputs of a case, in the order of its buffers; inputs stay empty.
using Outputs = std::vector<std::vector<std::byte>>;

/// Fills guards, inputs and poison for a run. Buffers beyond the case's are scratch: poison.
void prepare_arena(const Problem& problem, const Layout& layout, std::byte poison, Arena& arena);

/// OUT_OF_BOUNDS or INPUT_MODIFIED, or nothing.
std::optional<Finding> judge_bounds(const Problem& problem, const Layout& layout, const Arena& arena);

Outputs copy_outputs(const Problem& problem, const Layout& layout, const Arena& arena);

/// UNWRITTEN where both runs kept their poison; NONDETERMINISTIC where they differ, unless the case allows atomics.
std::optional<Finding> judge_two_runs(const Problem& problem, const Outputs& first, const Outputs& second);

/// INCORRECT or PRECISION against the reference: every row, or a sample that `seed` draws where that would take too
/// long.
///
/// An element o is right if |o - r| <= c * 2^-24 * sum|terms| + eps(out) * |r|; what the output's format cannot hold is
/// infinite, NaN stays NaN. It is imprecise if 2^-7 in place of both factors makes it right: bf16 terms.
///
/// On values of mean zero, rounding errors cancel too: the root mean square of (|o - r| - eps(out) * |r|) over
/// 2^-24 * sum|terms| is at most 8 + c/64. In sums of 4096 terms that is 40, where f32 in any order leaves less than 2
/// and tf32 terms leave 90, which the bound of one element, 2056, does not see.
std::optional<Finding> judge_numbers(const Problem& problem, const Outputs& outputs, std::uint64_t seed);

}  // namespace salient::workbench
