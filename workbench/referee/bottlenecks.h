// workbench/referee/bottlenecks.h - what holds a correct kernel back, by name, each with the figures that show it.
#pragma once

#include <string>
#include <vector>

#include "workbench/referee/referee.h"

namespace salient::workbench {

struct Bottleneck {
  std::string name{};      ///< one word of the field, such as memory_bound, register_spills, bank_conflicts
  std::string evidence{};  ///< one line
};

/// Of an assessment with samples, by its times, the compiler's notes and, where there are any, the profiler's figures;
/// each name once, with its worst evidence. A pure function of what a ledger has. Empty where nothing is known.
std::vector<Bottleneck> bottlenecks_of(const Assessment& assessment);

/// "memory_bound, tail"
std::string names_of(const std::vector<Bottleneck>& bottlenecks);

}  // namespace salient::workbench
