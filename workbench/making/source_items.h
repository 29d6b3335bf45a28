// workbench/making/source_items.h - a C++ source as directives, declarations and definitions, without a compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace salient::workbench {

/// A part of a source between two others: a directive, a declaration or a definition.
struct Item {
  std::size_t begin = 0, end = 0;
  enum class Kind : std::uint8_t {
    kDirective,
    kFunction,
    kOther,
    kFrame
  } kind = Kind::kOther;  ///< frame: "namespace x {" or "}"
  std::string name{};     ///< of a function
};

/// Comments and literals as blanks, in their places.
std::string without_comments(const std::string& source);

// Of texts without comments. @throws Error{kBadData} for brackets that do not close

std::vector<Item> items_of(const std::string& blanked);
/// Behind the bracket that closes the one at `open`.
std::size_t behind_bracket(const std::string& blanked, std::size_t open);
/// Parts between commas outside of brackets, without blanks at their ends.
std::vector<std::string> parts_of(const std::string& list);
std::vector<std::string> words_in(const std::string& text);  ///< names, keywords and numbers
std::string trimmed(const std::string& text);
bool is_word_character(char c);

}  // namespace salient::workbench
