// workbench/referee/text_gate.cpp - the gate on source text; see static_gate.h.
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "workbench/referee/static_gate.h"

namespace salient::workbench {
namespace {

constexpr std::array<std::string_view, 18> kHostIncludes = {
    "workbench_kernel.h", "cmath",   "cstdint", "cstddef", "cstring",  "algorithm",   "array",  "bit",      "limits",
    "type_traits",        "utility", "numeric", "tuple",   "concepts", "immintrin.h", "math.h", "stdint.h", "string.h"};
constexpr std::array<std::string_view, 16> kCudaIncludes = {
    "cuda_fp16.h",      "cuda_bf16.h", "cuda_fp8.h",   "mma.h",        "cuda_pipeline.h", "cooperative_groups.h",
    "math_constants.h", "cmath",       "cstdint",      "cstddef",      "type_traits",     "limits",
    "math.h",           "stdint.h",    "cuda/barrier", "cuda/pipeline"};
constexpr std::array<std::string_view, 5> kCudaFolders = {"cooperative_groups/", "cuda/std/", "cub/", "cute/",
                                                          "cutlass/"};
constexpr std::array<std::string_view, 9> kHostWords = {"asm",
                                                        "__asm",
                                                        "__asm__",
                                                        "__attribute__",
                                                        "__attribute",
                                                        "__builtin_return_address",
                                                        "__builtin_frame_address",
                                                        "__declspec",
                                                        "thread_local"};
constexpr std::array<std::string_view, 3> kWords = {"_Pragma", "__pragma", "import"};
constexpr std::array<std::string_view, 5> kPragmas = {"unroll", "GCC unroll", "GCC ivdep", "once", "nv_diag"};

template <class List>
bool holds(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The source as a compiler's first phases leave it: joined lines, comments as blanks, literals as empty ones.
/// Sets `odd` to a reason if it cannot be read as the compiler does.
std::string plain_text(const std::string& source, std::string& odd) {
  std::string joined;
  for (std::size_t i = 0; i < source.size(); ++i) {
    std::size_t next = i + 1;
    while (source[i] == '\\' && next < source.size() &&
           (source[next] == ' ' || source[next] == '\t' || source[next] == '\r'))
      ++next;
    if (source[i] == '\\' && next < source.size() && source[next] == '\n')
      i = next;
    else
      joined += source[i];
  }
  std::string text;
  for (std::size_t i = 0; i < joined.size(); ++i) {
    const char c = joined[i];
    if (static_cast<unsigned char>(c) >= 0x80 || (c < ' ' && c != '\n' && c != '\t' && c != '\r'))
      odd = "a byte outside of ASCII";
    if (joined.compare(i, 2, "//") == 0) {
      i = std::min(joined.find('\n', i), joined.size()) - 1;
      text += ' ';
    } else if (joined.compare(i, 2, "/*") == 0) {
      i = joined.find("*/", i + 2);
      if (i == std::string::npos) {
        odd = "a comment without end";
        return text;
      }
      i += 1;
      text += ' ';
    } else if (c == '"' || (c == '\'' && !(i > 0 && std::isxdigit(static_cast<unsigned char>(joined[i - 1])) != 0))) {
      if (c == '"' && i > 0 && joined[i - 1] == 'R') odd = "a raw string";
      const std::size_t start = i++;
      while (i < joined.size() && joined[i] != c && joined[i] != '\n') i += joined[i] == '\\' ? 2U : 1U;
      if (i >= joined.size() || joined[i] == '\n') odd = "a literal without end";
      const std::string_view inside =
          std::string_view(joined).substr(start + 1, std::min(i, joined.size()) - start - 1);
      const std::size_t line = text.rfind('\n') + 1;
      const bool is_include = text.find("include", line) != std::string::npos;
      text.append(1, c).append(is_include || inside == "C" ? inside : std::string_view{}).append(1, c);
    } else {
      text += c;
    }
  }
  return text;
}

std::string trimmed(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r");
  if (start == std::string_view::npos) return {};
  return std::string(text.substr(start, text.find_last_not_of(" \t\r") + 1 - start));
}

std::optional<std::string> reject_include(const std::string& rest, BackendKind backend) {
  const bool quoted = rest.size() > 2 && rest.front() == '"' && rest.back() == '"';
  if (!quoted && !(rest.size() > 2 && rest.front() == '<' && rest.back() == '>')) return "a computed #include";
  const std::string name = rest.substr(1, rest.size() - 2);
  if (name.find("..") != std::string::npos) return "an #include with '..'";
  if (backend == BackendKind::kHost ? holds(kHostIncludes, name) : holds(kCudaIncludes, name)) return std::nullopt;
  if (backend == BackendKind::kCuda)
    for (const std::string_view folder : kCudaFolders)
      if (name.starts_with(folder)) return std::nullopt;
  return "#include of " + trimmed(name) + ", which is not on the list";
}

std::optional<std::string> reject_directive(const std::string& line, BackendKind backend) {
  const std::string rest = trimmed(std::string_view(line).substr(line.find('#') + 1));
  std::size_t end = 0;
  while (end < rest.size() && is_word(rest[end])) ++end;
  const std::string name = rest.substr(0, end), after = trimmed(std::string_view(rest).substr(end));
  if (name == "include") return reject_include(after, backend);
  if (name == "pragma") {
    for (const std::string_view allowed : kPragmas)
      if (after.starts_with(allowed)) return std::nullopt;
    return "#pragma " + after.substr(0, 40);
  }
  constexpr std::array<std::string_view, 10> kAllowed = {"define", "undef", "if",    "ifdef", "ifndef",
                                                         "else",   "elif",  "endif", "error", ""};
  if (!holds(kAllowed, name)) return "#" + name;
  if (after.find("#") != std::string::npos) return "a macro that pastes tokens";
  return std::nullopt;
}

std::optional<std::string> reject_words(const std::string& text, BackendKind backend) {
  for (std::size_t i = 0; i < text.size();) {
    if (!is_word(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = std::string_view(text).substr(i, end - i);
    if (holds(kWords, word) || (backend == BackendKind::kHost && holds(kHostWords, word)))
      return "the word " + std::string(word);
    i = end;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> reject_text(const std::string& source, BackendKind backend) {
  std::string odd;
  const std::string text = plain_text(source, odd);
  if (!odd.empty()) return odd;
  for (const std::string_view token : {"\\", "%:", "[[gnu", "[[using", "<<<"})
    if (text.find(token) != std::string::npos && !(token == "\\" && backend == BackendKind::kCuda))
      return "'" + std::string(token) + "' outside of literals";
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    const std::string line = trimmed(std::string_view(text).substr(from, to - from));
    if (line.starts_with('#'))
      if (auto reason = reject_directive(line, backend)) return reason;
    from = to + 1;
  }
  return reject_words(text, backend);
}

}  // namespace salient::workbench
