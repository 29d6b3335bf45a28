// workbench/referee/ptx_gate.cpp - the gate on PTX, statement by statement; see static_gate.h.
//
// Inline assembly of a candidate is part of the PTX, in whatever spelling: blanks and line breaks mean nothing here.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "workbench/referee/static_gate.h"

namespace salient::workbench {
namespace {

using Words = std::span<const std::string_view>;

constexpr const char* kOutlives = "a module variable: memory that outlives a launch";

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%'; }

/// Words of PTX: names, each ".name" of a directive or a modifier, numbers, and other characters one by one. Comments
/// and strings are left out.
std::vector<std::string_view> ptx_words_of(std::string_view ptx) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < ptx.size();) {
    std::size_t end = i + 1;
    if (std::isspace(static_cast<unsigned char>(ptx[i])) != 0) {
      i = end;
      continue;
    }
    if (ptx.compare(i, 2, "//") == 0) {
      i = std::min(ptx.find('\n', i), ptx.size());
    } else if (ptx.compare(i, 2, "/*") == 0) {
      const std::size_t close = ptx.find("*/", i + 2);
      i = close == std::string_view::npos ? ptx.size() : close + 2;
    } else if (ptx[i] == '"') {
      const std::size_t close = ptx.find('"', end);
      i = close == std::string_view::npos ? ptx.size() : close + 1;
    } else {
      while ((ptx[i] == '.' || is_name(ptx[i])) && end < ptx.size() && is_name(ptx[end])) ++end;
      words.push_back(ptx.substr(i, end - i));
      i = end;
    }
  }
  return words;
}

bool holds(Words statement, std::string_view word) {
  return std::find(statement.begin(), statement.end(), word) != statement.end();
}

/// Bytes of a variable's declaration such as ".visible .global .align 4 .b8 cache[2][1024] = "; SIZE_MAX if it is none
/// that is understood.
std::size_t bytes_of_variable(Words declaration) {
  static const std::map<std::string_view, std::size_t> widths = {
      {".b8", 1},  {".u8", 1},  {".s8", 1},  {".b16", 2}, {".u16", 2}, {".s16", 2}, {".f16", 2}, {".b32", 4},
      {".u32", 4}, {".s32", 4}, {".f32", 4}, {".b64", 8}, {".u64", 8}, {".s64", 8}, {".f64", 8}};
  const Words variable = declaration.first(
      static_cast<std::size_t>(std::find(declaration.begin(), declaration.end(), "=") - declaration.begin()));
  if (holds(variable, ",") || holds(variable, ".v2") || holds(variable, ".v4")) return SIZE_MAX;
  std::size_t bytes = SIZE_MAX;
  for (std::size_t i = 0; i < variable.size(); ++i) {
    if (const auto found = widths.find(variable[i]); found != widths.end()) bytes = found->second;
    if (variable[i] != "[" || bytes == SIZE_MAX) continue;
    const std::string_view text = i + 1 < variable.size() ? variable[i + 1] : "";
    std::size_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size() || count > (1U << 20)) return SIZE_MAX;
    bytes = std::min(bytes * count, std::size_t{1} << 20);
  }
  return bytes;
}

/// The last name before the brackets or the value; "" if there is none.
std::string_view name_of_variable(Words declaration) {
  std::string_view name;
  for (const std::string_view word : declaration) {
    if (word == "[" || word == "=") break;
    if (!word.starts_with('.')) name = word;
  }
  return name;
}

std::optional<std::string> reject_word(std::string_view word) {
  for (const std::string_view wide : {"%clock", "%globaltimer", "%pm", "%envreg"})
    if (word.starts_with(wide)) return "use of " + std::string(wide);
  for (const std::string_view exact : {"nanosleep", "vprintf", ".texref", ".surfref", ".samplerref", ".tex", "#"})
    if (word == exact) return "use of " + std::string(exact);
  if (word.find("cudaLaunchDevice") != std::string_view::npos) return "use of cudaLaunchDevice";
  return std::nullopt;
}

/// Whether the statement declares a variable of the module.
bool is_module_variable(Words statement) {
  return !statement.empty() && statement[0].starts_with('.') && !holds(statement, ".func") &&
         !holds(statement, ".entry") && holds(statement, ".global");
}

/// @param statement  up to ; { or }. A declaration begins with a directive; of instructions it is a modifier.
std::optional<std::string> reject_statement(Words statement) {
  for (const std::string_view word : statement)
    if (auto reason = reject_word(word)) return reason;
  if (statement.empty() || !statement[0].starts_with('.')) return std::nullopt;
  const bool is_function = holds(statement, ".func");
  if (is_function && holds(statement, ".extern")) return "a call outside of the kernel";
  if (is_module_variable(statement) && bytes_of_variable(statement) > 1) return kOutlives;
  return std::nullopt;
}

/// "NAME :", of a jump's target and of nothing else, belongs to no statement.
Words without_labels(Words statement) {
  while (statement.size() > 1 && statement[1] == ":") statement = statement.subspan(2);
  return statement;
}

struct Entry {
  std::size_t parameters = 0;
  bool is_odd = false;  ///< a parameter that is neither a pointer nor a 64-bit integer
};

/// @param head  ".visible .entry NAME (.param .u64 a, .param .u64 b) ..."
Entry entry_of(Words head) {
  Entry entry;
  const auto open = std::find(head.begin(), head.end(), "("), close = std::find(open, head.end(), ")");
  for (auto from = open; from != close;) {
    const auto to = std::find(std::next(from), close, ",");
    const Words one(from, to);
    if (holds(one, ".param")) {
      ++entry.parameters;
      entry.is_odd =
          entry.is_odd || holds(one, "[") || !(holds(one, ".u64") || holds(one, ".s64") || holds(one, ".b64"));
    }
    from = to;
  }
  return entry;
}

/// Up to ; { or }, without labels.
std::vector<Words> statements_of(const std::vector<std::string_view>& words) {
  constexpr std::array<std::string_view, 3> kEnds = {";", "{", "}"};
  std::vector<Words> statements;
  for (auto from = words.begin(); from != words.end();) {
    const auto to = std::find_first_of(from, words.end(), kEnds.begin(), kEnds.end());
    statements.push_back(without_labels({from, to}));
    from = to == words.end() ? to : std::next(to);
  }
  return statements;
}

/// A tag of one byte, as CuTe's headers have them, is memory once a statement names it.
std::optional<std::string> reject_used_variables(const std::vector<Words>& statements) {
  std::set<std::string_view> declared;
  for (const Words& statement : statements)
    if (is_module_variable(statement)) declared.insert(name_of_variable(statement));
  for (const Words& statement : statements)
    if (!is_module_variable(statement) &&
        std::any_of(statement.begin(), statement.end(), [&](std::string_view word) { return declared.contains(word); }))
      return kOutlives;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> reject_ptx(const std::string& ptx, const Candidate& candidate, std::size_t num_parameters) {
  const std::vector<std::string_view> words = ptx_words_of(ptx);
  const std::vector<Words> statements = statements_of(words);
  std::map<std::string_view, Entry> entries;
  for (const Words& statement : statements) {
    if (auto reason = reject_statement(statement)) return reason;
    if (const auto at = std::find(statement.begin(), statement.end(), ".entry");
        at != statement.end() && std::next(at) != statement.end())
      entries[*std::next(at)] = entry_of(statement);
  }
  if (auto reason = reject_used_variables(statements)) return reason;
  for (const auto& [name, entry] : entries)
    if (entry.is_odd) return "an entry has a parameter that is neither a pointer nor a 64-bit integer";
  for (const LaunchLine& launch : candidate.launches) {
    const auto found = entries.find(launch.kernel);
    if (found == entries.end()) return "there is no extern \"C\" kernel " + launch.kernel;
    if (found->second.parameters != num_parameters)
      return "kernel " + launch.kernel + " has " + std::to_string(found->second.parameters) +
             " parameters, the case gives " + std::to_string(num_parameters);
  }
  return std::nullopt;
}

}  // namespace salient::workbench
