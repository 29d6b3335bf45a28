// workbench/referee/lexer.h - C++ source text as tokens, read as g++ -std=c++20 reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace salient::workbench {

enum class TokenKind : std::uint8_t {
  kWord,        ///< identifier or keyword
  kNumber,      ///< a preprocessing number, with its ' separators
  kCharacter,   ///< text = what is between the quotes
  kString,      ///< likewise, raw or not, without prefix
  kHeader,      ///< of #include: text = <name> or "name"
  kPunctuator,  ///< one character; digraphs as what they stand for
};

struct Token {
  TokenKind kind = TokenKind::kPunctuator;
  std::string text{};
  bool starts_line = false;  ///< the first token of a line, where comments and joined lines end none
  bool is(const char* what) const {
    return text == what && (kind == TokenKind::kWord || kind == TokenKind::kPunctuator);
  }
};

/// The tokens of a source: lines joined at backslashes, comments left out. Trigraphs are none in C++20.
///
/// @throws Error{kBadData}, one line, for what compilers may read differently or not at all: literals and comments
///         without end, control characters, bytes outside of ASCII except in comments and literals
std::vector<Token> tokens_of(const std::string& source);

}  // namespace salient::workbench
