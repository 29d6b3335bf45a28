// workbench/backend/ncu_profile.h - figures of NVIDIA's profiler ncu for the launches of a candidate.
#pragma once

#include <string>
#include <vector>

namespace salient::workbench {

/// Runs `command` under ncu, without a change of the GPU's clocks. One line per launch; one line that says why if ncu
/// cannot work here; empty where there is no ncu.
///
/// @param launches  what to call the launches of `command`, in their order
std::string ncu_profile(const std::vector<std::string>& command, const std::vector<std::string>& launches);

/// The same from ncu's output alone.
std::string text_of_ncu(const std::string& csv, const std::vector<std::string>& launches);

}  // namespace salient::workbench
