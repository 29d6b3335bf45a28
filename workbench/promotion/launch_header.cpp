// workbench/promotion/launch_header.cpp - see launch_header.h.
#include "workbench/promotion/launch_header.h"

namespace salient::workbench {

std::string launch_header(const Candidate& candidate, const Case& given, const Variables& tried) {
  std::string text =
      "// " + given.name + "_launch.h - how the kernels of " + given.name + " are launched.\n#pragma once\n\n" +
      "#include <array>\n#include <cstdint>\n#include <stdexcept>\n\nnamespace salient::kernels::" + given.name +
      " {\n\n";
  text +=
      "constexpr std::int64_t min(std::int64_t a, std::int64_t b) { return a < b ? a : b; }\n"
      "constexpr std::int64_t max(std::int64_t a, std::int64_t b) { return a < b ? b : a; }\n"
      "/// a / b rounded up, for positive numbers.\n"
      "constexpr std::int64_t ceil(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }\n\n";
  for (const Parameter& parameter : candidate.parameters)
    text += "inline constexpr std::int64_t " + parameter.name + " = " + std::to_string(parameter.value) + ";\n";
  if (!tried.empty()) text += "\n/// The largest sizes that the kernels were tried with.\n";
  for (const auto& [size, most] : tried)
    text += "inline constexpr std::int64_t largest_" + size + " = " + std::to_string(most) + ";\n";
  text +=
      "\n/// In their order. A launch with an empty grid is skipped. Arguments: the case's buffers, its sizes as "
      "64-bit\n"
      "/// integers, then scratch.\nstruct Launch {\n  const char* kernel;\n  std::int64_t grid[3];\n  std::int64_t "
      "block[2];\n"
      "  std::int64_t shared_bytes;\n};\n\n/// @param sm  multiprocessors of the device\n"
      "/// @throws std::out_of_range for sizes that were never tried\n";
  text += "constexpr std::array<Launch, " + std::to_string(candidate.launches.size()) + "> launches(";
  for (const std::string& dim : given.dims) text += "\n    [[maybe_unused]] std::int64_t " + dim + ",";
  text += "\n    [[maybe_unused]] std::int64_t sm) {\n";
  for (const auto& [size, most] : tried)
    text += "  if (" + size + " > largest_" + size + ") throw std::out_of_range(\"" + given.name + ": " + size +
            " is above " + std::to_string(most) + ", the largest that was tried\");\n";
  text += "  return {{\n";
  for (const LaunchLine& line : candidate.launches)
    text += "      {\"" + line.kernel + "\", {" + line.grid + ", " + line.grid_y + ", " + line.grid_z + "}, {" +
            line.block + ", " + line.block_y + "}, " + line.smem + "},\n";
  text += "  }};\n}\n";
  for (const BufferSpec& scratch : candidate.scratch)
    text += "\n/// Scratch " + scratch.name + ", " + word_of(scratch.type) + ": " + scratch.count + " elements.\n";
  return text + "\n}  // namespace salient::kernels::" + given.name + "\n";
}

}  // namespace salient::workbench
