// workbench/referee/text_gate.cpp - the gate on source text, rule by rule on its tokens; see static_gate.h.
//
// A macro can put tokens side by side that are apart here; what that could make is looked for in the object or the PTX.
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "core/error.h"
#include "workbench/referee/lexer.h"
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
constexpr std::array<std::string_view, 11> kHostWords = {"asm",
                                                         "__asm",
                                                         "__asm__",
                                                         "__attribute__",
                                                         "__attribute",
                                                         "__builtin_return_address",
                                                         "__builtin_frame_address",
                                                         "__builtin_thread_pointer",
                                                         "__declspec",
                                                         "__thread",
                                                         "thread_local"};
/// In any word: instructions that read a clock, or change how the worker's later arithmetic rounds.
constexpr std::array<std::string_view, 6> kHostInstructions = {"rdtsc", "rdpmc", "csr", "_MM_SET_", "xrstor", "umwait"};
constexpr std::array<std::string_view, 5> kWords = {"_Pragma", "__pragma", "import", "__has_include", "__has_embed"};
constexpr std::array<std::string_view, 10> kDirectives = {"define", "undef", "if",    "ifdef", "ifndef",
                                                          "else",   "elif",  "endif", "error", "include"};
constexpr std::array<std::string_view, 6> kAttributes = {"maybe_unused", "nodiscard",   "likely",
                                                         "unlikely",     "fallthrough", "noreturn"};

using Tokens = std::span<const Token>;

template <class List>
bool holds(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_at(Tokens tokens, std::size_t at, const char* what) { return at < tokens.size() && tokens[at].is(what); }

std::optional<std::string> reject_include(Tokens rest, BackendKind backend) {
  if (rest.size() != 1 || rest[0].kind != TokenKind::kHeader) return "a computed #include";
  const std::string name = rest[0].text.substr(1, rest[0].text.size() - 2);
  if (name.find("..") != std::string::npos) return "an #include with '..'";
  if (backend == BackendKind::kHost ? holds(kHostIncludes, name) : holds(kCudaIncludes, name)) return std::nullopt;
  if (backend == BackendKind::kCuda)
    for (const std::string_view folder : kCudaFolders)
      if (name.starts_with(folder)) return std::nullopt;
  return "#include of " + name + ", which is not on the list";
}

bool is_allowed_pragma(Tokens rest) {
  if (is_at(rest, 0, "unroll") || is_at(rest, 0, "once")) return true;
  if (is_at(rest, 0, "GCC")) return is_at(rest, 1, "unroll") || is_at(rest, 1, "ivdep");
  return !rest.empty() && rest[0].text.starts_with("nv_diag");
}

/// @param line  from its # on
std::optional<std::string> reject_directive(Tokens line, BackendKind backend) {
  if (line.size() == 1) return std::nullopt;
  const std::string& name = line[1].text;
  const Tokens rest = line.subspan(2);
  if (line[1].is("include")) return reject_include(rest, backend);
  if (line[1].is("pragma"))
    return is_allowed_pragma(rest) ? std::nullopt
                                   : std::optional("#pragma " + (rest.empty() ? std::string() : rest[0].text));
  if (line[1].kind != TokenKind::kWord || !holds(kDirectives, name)) return "#" + name;
  if (std::any_of(rest.begin(), rest.end(), [](const Token& token) { return token.is("#"); }))
    return "a macro that pastes tokens";
  return std::nullopt;
}

std::optional<std::string> reject_directives(Tokens tokens, BackendKind backend) {
  for (std::size_t from = 0; from < tokens.size();) {
    std::size_t to = from + 1;
    while (to < tokens.size() && !tokens[to].starts_line) ++to;
    if (tokens[from].is("#"))
      if (auto reason = reject_directive(tokens.subspan(from, to - from), backend)) return reason;
    from = to;
  }
  return std::nullopt;
}

/// Of an attribute list, from behind its [[ on: names of the list, each with or without a text in brackets.
std::optional<std::string> reject_attributes(Tokens rest) {
  for (std::size_t i = 0; i < rest.size() && !rest[i].is("]"); ++i) {
    if (rest[i].is(",")) continue;
    if (rest[i].kind != TokenKind::kWord) return "an attribute list that is no list of names";
    if (!holds(kAttributes, rest[i].text)) return "the attribute " + rest[i].text;
    if (!is_at(rest, i + 1, "(")) continue;
    if (!is_at(rest, i + 3, ")") || rest[i + 2].kind != TokenKind::kString) return "an attribute with more than a text";
    i += 3;
  }
  return std::nullopt;
}

bool is_barred_on_the_host(const std::string& word) {
  return holds(kHostWords, word) || std::any_of(kHostInstructions.begin(), kHostInstructions.end(),
                                                [&](auto part) { return word.find(part) != std::string::npos; });
}

std::optional<std::string> reject_tokens(Tokens tokens, BackendKind backend) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const bool is_word = token.kind == TokenKind::kWord;
    if (is_word && (holds(kWords, token.text) || (backend == BackendKind::kHost && is_barred_on_the_host(token.text))))
      return "the word " + token.text;
    if (token.is("<") && is_at(tokens, i + 1, "<") && is_at(tokens, i + 2, "<")) return "'<<<' outside of literals";
    if (token.is("[") && is_at(tokens, i + 1, "["))
      if (auto reason = reject_attributes(tokens.subspan(i + 2))) return reason;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> reject_text(const std::string& source, BackendKind backend) {
  try {
    const std::vector<Token> tokens = tokens_of(source);
    if (auto reason = reject_directives(tokens, backend)) return reason;
    return reject_tokens(tokens, backend);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    return error.what();
  }
}

}  // namespace salient::workbench
