// workbench/referee/text_gate.cpp - the gate on source text, rule by rule on its tokens; see static_gate.h.
//
// A macro can put tokens side by side that are apart in the source: candidates of the host are judged a second time as
// the preprocessor leaves them, those of the GPU by their PTX.
#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include "core/error.h"
#include "core/printable.h"
#include "workbench/referee/lexer.h"
#include "workbench/referee/static_gate.h"

namespace salient::workbench {
namespace {

constexpr std::string_view kHostIncludes[] = {
    "workbench_kernel.h", "cmath",   "cstdint", "cstddef", "cstring",  "algorithm",   "array",  "bit",      "limits",
    "type_traits",        "utility", "numeric", "tuple",   "concepts", "immintrin.h", "math.h", "stdint.h", "string.h"};
constexpr std::string_view kCudaIncludes[] = {
    "cuda_fp16.h",      "cuda_bf16.h", "cuda_fp8.h",   "mma.h",        "cuda_pipeline.h", "cooperative_groups.h",
    "math_constants.h", "cmath",       "cstdint",      "cstddef",      "type_traits",     "limits",
    "math.h",           "stdint.h",    "cuda/barrier", "cuda/pipeline"};
constexpr std::string_view kCudaFolders[] = {"cooperative_groups/", "cuda/std/", "cub/", "cute/", "cutlass/"};
constexpr std::string_view kHostWords[] = {"asm", "thread_local"};
/// Beginnings of the compiler's words that reach the machine, the linker, or what sanitizers call.
constexpr std::string_view kHostBeginnings[] = {"__asm",  "__attribute", "__declspec", "__thread",    "__transaction",
                                                "__asan", "__ubsan",     "__lsan",     "__sanitizer", "__interceptor"};
/// In intrinsics: instructions that read a clock, or change how the worker's later arithmetic rounds, or its state.
constexpr std::string_view kHostInstructions[] = {
    "rdtsc", "rdpmc",  "csr",    "_MM_SET_", "xrstor", "xsave",  "umwait", "tpause", "monitor", "mwait",
    "rdpid", "fsbase", "gsbase", "eflags",   "xgetbv", "xbegin", "fnst",   "fldenv", "fnclex"};
/// Of __builtin_NAME: beginnings of those that compute. Others reach frames, threads, or the heap.
constexpr std::string_view kBuiltins[] = {"abs",          "fabs",
                                          "labs",         "llabs",
                                          "sqrt",         "cbrt",
                                          "exp",          "log",
                                          "pow",          "sin",
                                          "cos",          "tan",
                                          "asin",         "acos",
                                          "atan",         "sinh",
                                          "cosh",         "erf",
                                          "tgamma",       "lgamma",
                                          "hypot",        "fma",
                                          "fmin",         "fmod",
                                          "fdim",         "remainder",
                                          "copysign",     "ldexp",
                                          "frexp",        "scalbn",
                                          "scalbln",      "ilogb",
                                          "logb",         "floor",
                                          "ceil",         "trunc",
                                          "round",        "rint",
                                          "nearbyint",    "lrint",
                                          "llrint",       "lround",
                                          "llround",      "nan",
                                          "inf",          "huge_val",
                                          "isnan",        "isinf",
                                          "isfinite",     "isnormal",
                                          "issignaling",  "signbit",
                                          "isgreater",    "isless",
                                          "isunordered",  "isequal",
                                          "fpclassify",   "nextafter",
                                          "nexttoward",   "modf",
                                          "popcount",     "clz",
                                          "ctz",          "ffs",
                                          "clrsb",        "parity",
                                          "bswap",        "add_overflow",
                                          "sub_overflow", "mul_overflow",
                                          "sadd",         "saddl",
                                          "uadd",         "ssub",
                                          "usub",         "smul",
                                          "umul",         "assume_aligned",
                                          "unreachable",  "trap",
                                          "prefetch",     "constant_p",
                                          "bit_cast",     "is_constant_evaluated",
                                          "memcpy",       "memmove",
                                          "memset",       "memcmp",
                                          "shuffle",      "convertvector",
                                          "choose_expr",  "types_compatible",
                                          "offsetof",     "addressof",
                                          "launder",      "alloca",
                                          "ia32_"};
/// The language's own.
constexpr std::string_view kKeywords[] = {
    "alignas",       "alignof",     "and",       "and_eq",    "asm",          "auto",
    "bitand",        "bitor",       "bool",      "break",     "case",         "catch",
    "char",          "char8_t",     "char16_t",  "char32_t",  "class",        "compl",
    "concept",       "const",       "consteval", "constexpr", "constinit",    "const_cast",
    "continue",      "co_await",    "co_return", "co_yield",  "decltype",     "default",
    "defined",       "delete",      "do",        "double",    "dynamic_cast", "else",
    "enum",          "explicit",    "export",    "extern",    "false",        "float",
    "for",           "friend",      "goto",      "if",        "import",       "inline",
    "int",           "long",        "module",    "mutable",   "namespace",    "new",
    "noexcept",      "not",         "not_eq",    "nullptr",   "operator",     "or",
    "or_eq",         "private",     "protected", "public",    "register",     "reinterpret_cast",
    "requires",      "return",      "short",     "signed",    "sizeof",       "static",
    "static_assert", "static_cast", "struct",    "switch",    "template",     "this",
    "thread_local",  "throw",       "true",      "try",       "typedef",      "typeid",
    "typename",      "union",       "unsigned",  "using",     "virtual",      "void",
    "volatile",      "wchar_t",     "while",     "xor",       "xor_eq"};
/// Of workbench_kernel.h, of launch lines and of the header that is written for a promoted kernel.
constexpr std::string_view kOwnNames[] = {"WorkbenchBlock", "PhiloxWords", "philox", "half",    "bfloat16",
                                          "to_float",       "to_bfloat16", "std",    "min",     "max",
                                          "ceil",           "sm",          "Launch", "launches"};
/// The second half: what another file, another day or another place of the same text would change.
constexpr std::string_view kWords[] = {
    "_Pragma",           "__pragma",    "import",        "__has_include", "__has_include_next", "__has_embed",
    "__DATE__",          "__TIME__",    "__TIMESTAMP__", "__FILE__",      "__FILE_NAME__",      "__BASE_FILE__",
    "__INCLUDE_LEVEL__", "__COUNTER__", "__LINE__"};
constexpr std::string_view kDirectives[] = {"define", "undef", "if",    "ifdef", "ifndef",
                                            "else",   "elif",  "endif", "error", "include"};
constexpr std::string_view kAttributes[] = {"maybe_unused", "nodiscard",   "likely",
                                            "unlikely",     "fallthrough", "noreturn"};

using Tokens = std::span<const Token>;

template <class List>
bool holds(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

template <class List>
bool has_beginning(const List& list, std::string_view word) {
  return std::any_of(std::begin(list), std::end(list), [&](auto part) { return word.starts_with(part); });
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
  if (backend == BackendKind::kHost && (line[1].is("define") || line[1].is("undef")) && !rest.empty() &&
      (rest[0].text.starts_with('_') || holds(kKeywords, rest[0].text)))
    return "#" + name + " of " + rest[0].text + ", which is not the candidate's to define";
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
  constexpr std::string_view kBuiltin = "__builtin_";
  if (holds(kHostWords, word)) return true;
  if (!word.starts_with('_')) return false;
  return has_beginning(kHostBeginnings, word) ||
         (word.starts_with(kBuiltin) && !has_beginning(kBuiltins, std::string_view(word).substr(kBuiltin.size()))) ||
         std::any_of(std::begin(kHostInstructions), std::end(kHostInstructions),
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

/// Leaves out lines such as `# 12 "candidate.cpp" 2`, by which the preprocessor says where the next one is from.
std::vector<Token> without_line_markers(const std::vector<Token>& tokens) {
  std::vector<Token> left;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_marker = tokens[i].starts_line && tokens[i].is("#") && i + 1 < tokens.size() &&
                           tokens[i + 1].kind == TokenKind::kNumber && !tokens[i + 1].starts_line;
    if (!is_marker) {
      left.push_back(tokens[i]);
      continue;
    }
    while (i + 1 < tokens.size() && !tokens[i + 1].starts_line) ++i;
  }
  return left;
}

/// Whether a terminal or an editor may show another text than the compiler reads.
bool has_hiding_character(const std::string& source) {
  std::string text = source;
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; });
  return printable(text) != text;
}

/// What `judge` says of the tokens; what cannot be read in one way alone is a reason, too.
template <class Judge>
std::optional<std::string> reject_by(const std::string& text, const Judge& judge) {
  try {
    return judge(tokens_of(text));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    return error.what();
  }
}

}  // namespace

std::optional<std::string> reject_characters(const std::string& source) {
  if (!has_hiding_character(source)) return std::nullopt;
  return "a control character, one that turns the direction of text, or one that is no UTF-8";
}

std::optional<std::string> reject_text(const std::string& source, BackendKind backend) {
  if (auto reason = reject_characters(source)) return reason;
  return reject_by(source, [&](const std::vector<Token>& tokens) {
    if (auto reason = reject_directives(tokens, backend)) return reason;
    return reject_tokens(tokens, backend);
  });
}

std::optional<std::string> reject_preprocessed(const std::string& text) {
  return reject_by(text, [](const std::vector<Token>& all) {
    const std::vector<Token> tokens = without_line_markers(all);
    if (auto reason = reject_directives(tokens, BackendKind::kHost)) return reason;
    return reject_tokens(tokens, BackendKind::kHost);
  });
}

std::vector<std::string> included_headers(const std::string& source) {
  std::vector<std::string> headers;
  for (const Token& token : tokens_of(source))
    if (token.kind == TokenKind::kHeader && !holds(headers, token.text)) headers.push_back(token.text);
  return headers;
}

bool is_reserved(std::string_view name) {
  return name.starts_with('_') || name.starts_with("salient") || name.find("__") != std::string_view::npos ||
         holds(kKeywords, name) || holds(kOwnNames, name);
}

}  // namespace salient::workbench
