// core/files/flat_toml.cpp - see flat_toml.h. The language is that of https://toml.io/en/v1.0.0, as far as it goes.
#include "core/files/flat_toml.h"

#include <algorithm>

#include "core/error.h"

namespace salient {
namespace {

constexpr std::string_view kEscapes = "\"\"\\\\n\nt\tr\rb\bf\f";  // what stands after a backslash, and what it means

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; }

class Parser {
 public:
  Parser(std::string_view text, const std::string& path) : rest_(text), path_(path) {}

  std::vector<TomlItem> items() {
    std::vector<TomlItem> found;
    for (skip_lines(); !rest_.empty(); skip_lines()) {
      TomlItem item{.line = line_, .key = key()};
      if (std::ranges::find(found, item.key, &TomlItem::key) != found.end()) refuse(item.key + " is set twice");
      skip_blanks();
      if (!take('=')) refuse("expected = after " + item.key);
      skip_blanks();
      item.value = value();
      skip_blanks();
      skip_comment();
      if (!rest_.empty() && !take('\n')) refuse("something follows the value of " + item.key);
      found.push_back(std::move(item));
    }
    return found;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    fail(ErrorKind::kUsage, path_ + ": line " + std::to_string(line_) + ": " + what);
  }

  bool sees(char c) const { return !rest_.empty() && rest_.front() == c; }

  bool take(char c) {
    if (!sees(c)) return false;
    (void)next();
    return true;
  }

  char next() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '\n') ++line_;
    return c;
  }

  void skip_blanks() {
    while (sees(' ') || sees('\t') || (sees('\r') && rest_.substr(0, 2) == "\r\n")) (void)next();
  }

  void skip_comment() {
    if (!sees('#')) return;
    while (!rest_.empty() && !sees('\n')) (void)next();
  }

  /// Blanks, comments and ends of lines.
  void skip_lines() {
    do {
      skip_blanks();
      skip_comment();
    } while (take('\n'));
  }

  std::string key() {
    if (sees('[')) refuse("sections are not used");
    std::string name;
    while (!rest_.empty() && is_key_character(rest_.front())) name += next();
    if (name.empty()) refuse("expected a key of letters, digits, - and _");
    return name;
  }

  std::string value() {
    if (!take('[')) return scalar();
    std::string list;
    for (skip_lines(); !take(']'); skip_lines()) {
      if (!list.empty()) list += ',';
      list += scalar();
      skip_lines();
      if (!sees(']') && !take(',')) refuse("expected , or ] in a list");
    }
    return list;
  }

  std::string scalar() {
    if (take('"')) return quoted('"');
    if (take('\'')) return quoted('\'');
    std::string word;
    while (!rest_.empty() && (is_key_character(rest_.front()) || sees('.') || sees('+'))) word += next();
    if (word.empty()) refuse("expected a value: a string in quotes, a number, true, false, or a list of them");
    return word;
  }

  std::string quoted(char quote) {
    std::string text;
    while (!take(quote)) {
      if (rest_.empty() || sees('\n')) refuse(std::string("a string has no closing ") + quote);
      char c = next();
      if (is_control(c)) refuse("a string holds a control character");
      if (c == '\\' && quote == '"') c = escaped();
      text += c;
    }
    return text;
  }

  char escaped() {
    for (std::size_t i = 0; !rest_.empty() && i < kEscapes.size(); i += 2)
      if (take(kEscapes[i])) return kEscapes[i + 1];
    refuse(R"(after a backslash one of " \ n t r b f is known; '...' takes backslashes as they are)");
  }

  std::string_view rest_;
  const std::string& path_;
  int line_ = 1;
};

}  // namespace

std::vector<TomlItem> parse_flat_toml(std::string_view text, const std::string& path) {
  return Parser(text, path).items();
}

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    std::size_t i = 0;
    while (i < kEscapes.size() && kEscapes[i + 1] != c) i += 2;
    if (i < kEscapes.size())
      quoted += '\\', quoted += kEscapes[i];
    else if (is_control(c))
      fail(ErrorKind::kUsage, "a configuration cannot hold control characters");
    else
      quoted += c;
  }
  return quoted + '"';
}

}  // namespace salient
