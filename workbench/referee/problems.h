// workbench/referee/problems.h - the problems of a check: which sizes and inputs a candidate is run on.
#pragma once

#include <cstdint>
#include <vector>

#include "workbench/case/problem.h"

namespace salient::workbench {

/// Tests beside the case's own. They can only add.
struct MoreTests {
  std::vector<Variables> shapes{};
  std::vector<std::uint64_t> seeds{};  ///< of inputs, beside the fresh one of every check

  bool empty() const { return shapes.empty() && seeds.empty(); }
};

/// By which rule sizes are chosen, as records name it. 1, of records that name none: hidden sizes are drawn. 2: they
/// are drawn in turns of all remainders by kRemainders, and swept_problems() has every remainder of every size.
inline constexpr int kSizeRule = 2;
inline constexpr std::uint64_t kRemainders = 256;

/// Edge shapes, hidden ones, those of `more`, public ones, in patterns that suit; then all but the public ones once for
/// every seed of `more`.
std::vector<ProblemSpec> problems_of(const Case& given, BackendKind backend, const MoreTests& more, std::uint64_t seed);

/// Small problems in which, one after the other, each size has every remainder by kRemainders that hidden shapes have:
/// once as the smallest such size, once larger where a problem of 1 MiB and 2^20 operations of the reference allows it.
/// Then powers of two from 256 on, one less and one more. The other sizes are small, and differ; in the last problems
/// all are equal, 2 to 32.
std::vector<ProblemSpec> swept_problems(const Case& given, BackendKind backend, std::uint64_t seed);

/// Every range of hidden shapes, all of its dims in every remainder by kRemainders, however large: what `promote` asks.
std::vector<ProblemSpec> problems_of_all_remainders(const Case& given, BackendKind backend, std::uint64_t seed);

}  // namespace salient::workbench
