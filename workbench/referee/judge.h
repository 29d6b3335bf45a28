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

/// Fills guards, inputs, and poison or former results for a run. Buffers beyond the case's are scratch: poison.
void prepare_arena(const Problem& problem, const Layout& layout, Dirt dirt, Arena& arena);

/// OUT_OF_BOUNDS or INPUT_MODIFIED, or nothing. @param guard  that prepare_arena() put there
std::optional<Finding> judge_bounds(const Problem& problem, const Layout& layout, std::byte guard, const Arena& arena);

Outputs copy_outputs(const Problem& problem, const Layout& layout, const Arena& arena);

/// UNWRITTEN where both runs kept what was there; NONDETERMINISTIC where they differ, unless the case allows atomics.
std::optional<Finding> judge_two_runs(const Problem& problem, const Outputs& first, const Outputs& second);

/// INCORRECT or PRECISION against the reference: every row, or a sample that `seed` draws where that would take too
/// long.
///
/// An element o is right if |o - r| <= c * 2^-24 * sum|terms| + eps(out) * |r|; what the output's format cannot hold is
/// infinite, NaN stays NaN, and where the terms' sum is beyond f32, a sum on the way may be, too. It is
/// imprecise if 2^-7 in place of both factors makes it right: bf16 terms.
///
/// On values of mean zero, rounding errors cancel too: the root mean square of (|o - r| - eps(out) * |r|) over
/// 2^-24 * sum|terms| is at most 8 + c/64. In sums of 4096 terms that is 40, where f32 in any order leaves less than 2
/// and tf32 terms leave 90, which the bound of one element, 2056, does not see. A case may say `mean` in its place, for
/// sums of products in f32: these leave less than 0.5, factors of 18 bits 4.6 in 100 terms, 1.8 in 700; of few elements
/// n, 1 + 3/sqrt(n) times as much may be left. Where an index has more than 8 entries in the mean, sums may have equal
/// terms, whose roundings are all to the same side, and no mean is looked at.
///
/// Exact outputs of a case have the reference's numbers, or its bits.
std::optional<Finding> judge_numbers(const Problem& problem, const Outputs& outputs, std::uint64_t seed);

}  // namespace salient::workbench
