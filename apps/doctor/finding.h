// apps/doctor/finding.h - what salient-doctor says of one part of a machine.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/enum_names.h"

namespace salient::doctor {

enum class State : std::uint8_t {
  kFine,
  kSlow,     ///< works, and would be faster or larger after `advice`
  kMissing,  ///< the programs, or what this machine is for, do not work before `advice`
};

constexpr auto names_of(State) {
  return std::to_array<EnumName<State>>({{State::kFine, "fine"}, {State::kSlow, "slow"}, {State::kMissing, "missing"}});
}

struct Finding {
  std::string part{};
  State state = State::kFine;
  std::string found{};
  std::string advice{};  ///< what to do; empty where it is fine
};
using Findings = std::vector<Finding>;

}  // namespace salient::doctor
