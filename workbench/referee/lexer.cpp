// workbench/referee/lexer.cpp - see lexer.h.
#include "workbench/referee/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace salient::workbench {
namespace {

constexpr std::array<std::string_view, 5> kRawPrefixes = {"R", "LR", "uR", "UR", "u8R"};
constexpr std::size_t kMaxRawDelimiter = 16;

[[noreturn]] void refuse(const char* why) { fail(ErrorKind::kBadData, why); }

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Lexer {
 public:
  explicit Lexer(const std::string& source) : source_(source) { join_lines(); }

  std::vector<Token> read() {
    bool starts_line = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' || c == ' ' || c == '\t') {
        starts_line = starts_line || c == '\n';
        ++at_;
      } else if (follows("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (follows("/*")) {
        at_ = text_.find("*/", at_ + 2);
        if (at_ == std::string::npos) refuse("a comment without end");
        at_ += 2;
      } else {
        if (starts_line) line_ = tokens_.size();
        Token token = next();
        token.starts_line = std::exchange(starts_line, false);
        tokens_.push_back(std::move(token));
      }
    }
    return std::move(tokens_);
  }

 private:
  /// Takes away every backslash at the end of a line, also one before blanks, as g++ does.
  void join_lines() {
    for (std::size_t i = 0; i < source_.size(); ++i) {
      const char c = source_[i];
      if (c == '\r' && (i + 1 == source_.size() || source_[i + 1] != '\n')) refuse("a carriage return within a line");
      if (c >= 0 && c < ' ' && c != '\n' && c != '\t' && c != '\r') refuse("a control character");
      if (c == '\r') continue;
      if (c == '\\') {
        const std::size_t end = source_.find_first_not_of(" \t\r", i + 1);
        if (end != std::string::npos && source_[end] == '\n') {
          i = end;
          continue;
        }
      }
      text_ += c;
      origin_.push_back(i);
    }
  }

  char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool follows(std::string_view what) const { return text_.compare(at_, what.size(), what) == 0; }
  std::string taken_from(std::size_t start) const { return text_.substr(start, at_ - start); }

  bool is_directive() const { return line_ < tokens_.size() && tokens_[line_].is("#"); }

  Token next() {
    const char c = text_[at_];
    if (is_directive() && tokens_.size() == line_ + 2 && tokens_.back().is("include") && (c == '<' || c == '"'))
      return header(c == '<' ? '>' : '"');
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_word(c)) return word();
    if (c == '"' || c == '\'') return literal(c);
    return punctuator();
  }

  Token header(char last) {
    const std::size_t start = at_, end = text_.find_first_of(std::string{last, '\n'}, at_ + 1);
    if (end == std::string::npos || text_[end] == '\n') refuse("an #include without end");
    at_ = end + 1;
    return {TokenKind::kHeader, taken_from(start)};
  }

  Token number() {
    const std::size_t start = at_++;
    for (;; ++at_) {
      const char c = peek(0), before = text_[at_ - 1];
      const bool is_exponent = before == 'e' || before == 'E' || before == 'p' || before == 'P';
      if (is_word(c) || c == '.' || (c == '\'' && is_word(peek(1))) || ((c == '+' || c == '-') && is_exponent))
        continue;
      return {TokenKind::kNumber, taken_from(start)};
    }
  }

  Token word() {
    const std::size_t start = at_;
    while (is_word(peek(0))) ++at_;
    Token token{TokenKind::kWord, taken_from(start)};
    const bool is_raw =
        peek(0) == '"' && std::find(kRawPrefixes.begin(), kRawPrefixes.end(), token.text) != kRawPrefixes.end();
    return is_raw ? raw_string() : token;
  }

  /// From its quote on, in the source as it was before lines were joined.
  Token raw_string() {
    const std::size_t start = origin_[at_] + 1, open = source_.find_first_of("()\\\" \t\r\n", start);
    if (open == std::string::npos || source_[open] != '(' || open - start > kMaxRawDelimiter)
      refuse("a raw string without a beginning");
    const std::string close = ")" + source_.substr(start, open - start) + "\"";
    const std::size_t end = source_.find(close, open + 1);
    if (end == std::string::npos) refuse("a raw string without end");
    Token token{TokenKind::kString, source_.substr(open + 1, end - open - 1)};
    if (is_directive() && token.text.find('\n') != std::string::npos) refuse("a raw string over lines of a directive");
    const auto behind = std::lower_bound(origin_.begin(), origin_.end(), end + close.size());
    at_ = static_cast<std::size_t>(behind - origin_.begin());
    return token;
  }

  Token literal(char quote) {
    const std::size_t start = ++at_;
    while (peek(0) != quote && peek(0) != '\n' && at_ < text_.size()) at_ += peek(0) == '\\' ? 2U : 1U;
    if (peek(0) != quote) refuse("a literal without end");
    Token token{quote == '"' ? TokenKind::kString : TokenKind::kCharacter, taken_from(start)};
    if (quote == '\'' && token.text.empty()) refuse("an empty character literal");
    ++at_;
    return token;
  }

  Token punctuator() {
    constexpr std::pair<std::string_view, char> kDigraphs[] = {
        {"<:", '['}, {":>", ']'}, {"<%", '{'}, {"%>", '}'}, {"%:", '#'}};
    const bool is_less = follows("<::") && peek(3) != ':' && peek(3) != '>';  // of a<::b>, as the standard says
    for (const auto& [spelling, meaning] : kDigraphs)
      if (follows(spelling) && !is_less) {
        at_ += 2;
        return {TokenKind::kPunctuator, std::string(1, meaning)};
      }
    const char c = text_[at_++];
    if (c < 0) refuse("a byte outside of ASCII");
    if (c == '\\') refuse("a backslash outside of literals");
    if (c == '$') refuse("a dollar sign outside of literals");  // part of a word for some compilers
    return {TokenKind::kPunctuator, std::string(1, c)};
  }

  const std::string& source_;
  std::string text_{};                 ///< with joined lines
  std::vector<std::size_t> origin_{};  ///< of each of its characters: where it is in source_
  std::size_t at_ = 0, line_ = 0;      ///< in text_; first token of the line, in tokens_
  std::vector<Token> tokens_{};
};

}  // namespace

std::vector<Token> tokens_of(const std::string& source) { return Lexer(source).read(); }

}  // namespace salient::workbench
