// core/files/flat_toml.cpp - see flat_toml.h. toml++ reads the language; here are the limits that we set to it.
#include "core/files/flat_toml.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/error.h"
#include "core/value_text.h"

#define TOML_ASSERT(holds) \
  static_cast<void>(0)  // 3.3 asserts what malformed input breaks, before it refuses that input
#define TOML_MAX_NESTED_VALUES 4
#include <toml++/toml.h>

namespace salient {
namespace {

constexpr std::size_t kMaxLineBytes = 4096;  // bounds the depth of a.b.c.d, which toml++ frees by recursion
/// A character, and its letter behind a backslash.
constexpr std::string_view kEscapes = "\"\"\\\\\nn\tt\rr\bb\ff";

[[noreturn]] void refuse(const std::string& path, std::size_t line, const std::string& what) {
  fail(ErrorKind::kUsage, path + ": line " + std::to_string(line) + ": " + what);
}

/// What toml++ must not see: headers of tables, which we have no use for, and lines without end.
void check_lines(std::string_view text, const std::string& path) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view content = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), content.size() + 1));
    if (content.size() > kMaxLineBytes)
      refuse(path, line, "is longer than " + std::to_string(kMaxLineBytes) + " bytes");
    const std::size_t first = content.find_first_not_of(" \t");
    if (first != std::string_view::npos && content[first] == '[') refuse(path, line, "sections are not used");
  }
}

bool is_bare(std::string_view key) {
  return std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

/// A value that is no list, as an option reads it; nullopt for what has no such form.
std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return to_text(flag->get());
  if (const auto* whole = node.as_integer()) return to_text(whole->get());
  const auto* real = node.as_floating_point();
  if (real == nullptr) return std::nullopt;
  const std::string text = to_text(real->get());
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;  // 2.0 is no whole number
}

std::string value_of(const toml::node& node, const std::string& path, std::size_t line) {
  constexpr const char* kAllowed = "expected a string, a number, true, false, or a list of them";
  const auto allowed = [&](const std::optional<std::string>& text) {
    return text ? *text : (refuse(path, line, kAllowed), "");
  };
  const toml::array* const list = node.as_array();
  if (list == nullptr) return allowed(text_of(node));
  std::string text;
  for (const toml::node& item : *list) text.append(text.empty() ? "" : ",").append(allowed(text_of(item)));
  return text;
}

/// Without the newlines that a message must not have.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

toml::table parse(std::string_view text, const std::string& path) {
  check_lines(text, path);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    refuse(path, error.source().begin.line, one_line(error.description()));
  }
}

}  // namespace

std::vector<TomlItem> parse_flat_toml(std::string_view text, const std::string& path) {
  const toml::table table = parse(text, path);
  std::vector<TomlItem> found;
  for (const auto& [key, node] : table) {
    const std::size_t line = key.source().begin.line;
    if (!is_bare(key.str())) refuse(path, line, "expected a key of letters, digits, - and _");
    found.push_back({static_cast<int>(line), std::string(key.str()), value_of(node, path, line)});
  }
  std::ranges::stable_sort(found, {}, &TomlItem::line);
  return found;
}

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    std::size_t i = 0;
    while (i < kEscapes.size() && kEscapes[i] != c) i += 2;
    if (i < kEscapes.size())
      quoted += '\\', quoted += kEscapes[i + 1];
    else
      quoted += c;
  }
  quoted += '"';
  (void)parse("x = " + quoted, "a text");
  return quoted;
}

}  // namespace salient
