// workbench/referee/sass_gate.cpp - the gate on machine code as nvdisasm prints it; see static_gate.h.
//
// A line of code is "/*0040*/  @!P0 LDG.E.64 R6, desc[UR10][R12.64+0x800] ;", and belongs to the section ".text.NAME"
// that was named last. Operands are separated by characters that no word has.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <vector>

#include "workbench/referee/static_gate.h"

namespace salient::workbench {
namespace {

struct SassRule {
  std::string_view word;
  const char* reason;
};

/// Beginnings of operands.
constexpr std::array<SassRule, 3> kRegisters = {
    {{"SR_CLOCK", "a clock"}, {"SR_GLOBALTIMER", "a clock"}, {"SR_PM", "a counter of the device"}}};
/// Whole instructions, or one of them with a modifier. CCTL rules the caches.
constexpr std::array<SassRule, 7> kInstructions = {{{"NANOSLEEP", "a sleep"},
                                                    {"CALL.ABS", "a call outside of the kernel"},
                                                    {"UBLKPF", "a prefetch into the cache that launches share"},
                                                    {"CCTL.PF2", "a prefetch into the cache that launches share"},
                                                    {"CCTL.PML2", "lines that stay in the cache that launches share"},
                                                    {"CCTL.DML2", "another priority in the cache that launches share"},
                                                    {"CCTL.RML2", "lines dropped from the cache that launches share"}}};
constexpr std::string_view kAddresses = "c[0x4]";  // the constants that hold addresses of the module's memory

std::vector<std::string_view> code_words_of(std::string_view text) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_part(text[end])) ++end;
    if (end > i) words.push_back(text.substr(i, end - i));
    i = end + 1;
  }
  return words;
}

/// The instruction without the predicate before it.
std::string_view without_predicate(std::string_view code) {
  const std::size_t first = code.find_first_not_of(" \t{");
  if (first == std::string_view::npos) return {};
  code.remove_prefix(first);
  if (code[0] != '@') return code;
  const std::size_t blank = code.find(' ');
  return blank == std::string_view::npos ? std::string_view{} : code.substr(blank + 1);
}

/// Whether the instruction "CCTL.E.PF2" is, or has the modifier of, the rule's "CCTL.PF2".
bool is_instruction(std::string_view word, std::string_view rule) {
  const std::size_t dot = rule.find('.'), own = word.find('.');
  if (word.substr(0, own) != rule.substr(0, dot)) return false;
  if (dot == std::string_view::npos) return true;
  const std::string modifiers = own == std::string_view::npos ? "" : std::string(word.substr(own)) + ".";
  return modifiers.find(std::string(rule.substr(dot)) + ".") != std::string::npos;
}

std::optional<std::string> reject_code(std::string_view code) {
  const std::vector<std::string_view> words = code_words_of(without_predicate(code));
  if (words.empty()) return std::nullopt;
  for (const SassRule& rule : kInstructions)
    if (is_instruction(words[0], rule.word)) return std::string(rule.reason) + ": " + std::string(words[0]);
  for (const std::string_view word : words)
    for (const SassRule& rule : kRegisters)
      if (word.starts_with(rule.word)) return std::string(rule.reason) + ": " + std::string(word);
  if (code.find(kAddresses) != std::string_view::npos) return "memory of the module, which outlives a launch";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> reject_sass(const std::string& sass, const Candidate& candidate) {
  constexpr std::string_view kSection = ".section\t.text.";
  std::map<std::string, std::size_t, std::less<>> instructions;  // by function
  std::size_t* in_section = nullptr;
  for (std::size_t from = 0; from < sass.size();) {
    const std::size_t to = std::min(sass.find('\n', from), sass.size());
    const std::string_view line = std::string_view(sass).substr(from, to - from);
    from = to + 1;
    if (const std::size_t at = line.find(kSection); at != std::string_view::npos) {
      const std::string_view name = line.substr(at + kSection.size());
      in_section = &instructions[std::string(name.substr(0, name.find(',')))];
      continue;
    }
    const std::size_t open = line.find("/*"), close = line.find("*/");
    if (open == std::string_view::npos || close == std::string_view::npos || line.find(';') == std::string_view::npos)
      continue;
    if (auto reason = reject_code(line.substr(close + 2))) return reason;
    if (in_section != nullptr) ++*in_section;
  }
  for (const LaunchLine& launch : candidate.launches)
    if (const auto found = instructions.find(launch.kernel); found == instructions.end() || found->second == 0)
      return "the disassembly has no kernel " + launch.kernel;
  return std::nullopt;
}

}  // namespace salient::workbench
