// workbench/referee/ptx_gate.cpp - the gate on PTX; see static_gate.h.
#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <string_view>

#include "workbench/referee/static_gate.h"

namespace salient::workbench {
namespace {

/// Bytes of a variable's declaration such as ".visible .global .align 4 .b8 cache[1024];"
std::size_t bytes_of_variable(const std::string& line) {
  static const std::map<std::string, std::size_t> widths = {
      {".b8", 1},  {".u8", 1},  {".s8", 1},  {".b16", 2}, {".u16", 2}, {".s16", 2}, {".f16", 2}, {".b32", 4},
      {".u32", 4}, {".s32", 4}, {".f32", 4}, {".b64", 8}, {".u64", 8}, {".s64", 8}, {".f64", 8}};
  std::size_t width = 16;  // of anything unknown: too much
  std::istringstream words(line);
  for (std::string word; words >> word;)
    if (const auto found = widths.find(word); found != widths.end()) width = found->second;
  const std::size_t bracket = line.find('[');
  if (bracket == std::string::npos) return width;
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(line.data() + bracket + 1, line.data() + line.size(), count);
  return error == std::errc{} ? width * count : SIZE_MAX;
}

bool has_word(std::string_view line, std::string_view word) { return line.find(word) != std::string_view::npos; }

std::optional<std::string> reject_line(const std::string& line) {
  if (line.starts_with("//")) return std::nullopt;
  const bool is_instruction = line.starts_with("\t") || line.starts_with(" ") || line.starts_with("@");
  if (!is_instruction && has_word(line, ".global") && !has_word(line, ".entry") && !has_word(line, ".func") &&
      bytes_of_variable(line) > 1)
    return "a module variable: memory that outlives a launch";
  if (has_word(line, ".extern .func")) return "a call outside of the kernel: " + line.substr(0, 80);
  if (has_word(line, ".texref") || has_word(line, ".surfref") || has_word(line, ".samplerref"))
    return "a texture reference";
  for (const char* word : {"%clock", "%globaltimer", "nanosleep", "vprintf", "%pm0", "%envreg", "cudaLaunchDevice"})
    if (has_word(line, word)) return std::string("use of ") + word;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> reject_ptx(const std::string& ptx, const Candidate& candidate, std::size_t num_parameters) {
  std::map<std::string, std::size_t> entries;
  std::istringstream lines(ptx);
  std::string open;  // entry whose parameters are being read
  bool odd_parameter = false;
  for (std::string line; std::getline(lines, line);) {
    if (auto reason = reject_line(line)) return reason;
    if (const std::size_t at = line.find(".entry "); at != std::string::npos) {
      open = line.substr(at + 7, line.find_first_of("( \t", at + 7) - at - 7);
      entries[open] = 0;
    }
    if (!open.empty() && line.find(".param") != std::string::npos) {
      odd_parameter = odd_parameter || line.find("64") == std::string::npos;
      ++entries[open];
    }
    if (line.find(')') != std::string::npos) open.clear();
  }
  if (odd_parameter) return "an entry has a parameter that is neither a pointer nor a 64-bit integer";
  for (const LaunchLine& launch : candidate.launches) {
    const auto found = entries.find(launch.kernel);
    if (found == entries.end()) return "there is no extern \"C\" kernel " + launch.kernel;
    if (found->second != num_parameters)
      return "kernel " + launch.kernel + " has " + std::to_string(found->second) + " parameters, the case gives " +
             std::to_string(num_parameters);
  }
  return std::nullopt;
}

}  // namespace salient::workbench
