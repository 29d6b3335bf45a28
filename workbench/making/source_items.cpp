// workbench/making/source_items.cpp - see source_items.h.
#include "workbench/making/source_items.h"

#include <algorithm>
#include <cctype>
#include <regex>

#include "core/error.h"

namespace salient::workbench {

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t behind_bracket(const std::string& text, std::size_t open) {
  const char opening = text[open], closing = opening == '(' ? ')' : opening == '{' ? '}' : opening == '<' ? '>' : ']';
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += text[at] == opening ? 1 : text[at] == closing ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  fail(ErrorKind::kBadData, std::string("the source has a '") + opening + "' that does not close");
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
}

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (const char c : list) {
    depth += c == '(' || c == '<' || c == '[' || c == '{' ? 1 : c == ')' || c == '>' || c == ']' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.push_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trimmed(part).empty()) parts.push_back(trimmed(part));
  return parts;
}

std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    while (at < text.size() && is_word_character(text[at])) ++at;
    if (at > start) words.push_back(text.substr(start, at - start));
    if (at == start) ++at;
  }
  return words;
}

namespace {

/// The name of the function that the head of a definition declares: before its first bracket that is no attribute's.
std::string function_name(const std::string& head) {
  static const std::regex bracketed(R"(\b(__launch_bounds__|alignas|decltype|__attribute__|__align__)\s*\()");
  std::string text = head;
  for (std::smatch found; std::regex_search(text, found, bracketed);) {
    const auto at = static_cast<std::size_t>(found.position(0));
    const std::size_t end = behind_bracket(text, at + static_cast<std::size_t>(found.length(0)) - 1);
    text.replace(at, end - at, end - at, ' ');
  }
  if (const std::size_t list = text.find("template"); list != std::string::npos)
    if (const std::size_t open = text.find('<', list); open != std::string::npos)
      text.replace(list, behind_bracket(text, open) - list, behind_bracket(text, open) - list, ' ');
  const std::size_t open = text.find('(');
  if (open == std::string::npos || text.find('=') < open) return "";
  std::size_t end = open;
  while (end > 0 && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0) --end;
  std::size_t start = end;
  while (start > 0 && is_word_character(text[start - 1])) --start;
  return text.substr(start, end - start);
}

bool is_frame(const std::string& head) {
  static const std::regex frame(R"(^\s*(inline\s+)?(namespace\b[\w\s:]*|extern\s*)$)");
  return std::regex_match(head, frame);
}

class Items {
 public:
  explicit Items(const std::string& blanked) : text_(blanked) {}

  std::vector<Item> read() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else if (c == '#') {
        directive();
      } else if (c == '}') {
        items_.push_back({at_, at_ + 1, Item::Kind::kFrame, {}});
        ++at_;
      } else {
        declaration();
      }
    }
    return std::move(items_);
  }

 private:
  void directive() {
    const std::size_t begin = at_;
    do {
      at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
    } while (at_ >= 2 && at_ < text_.size() && text_[at_ - 2] == '\\');
    items_.push_back({begin, at_, Item::Kind::kDirective, {}});
  }

  void declaration() {
    const std::size_t begin = at_;
    std::size_t end = begin;
    while (end < text_.size() && text_[end] != ';' && text_[end] != '{') {
      if (text_[end] == '(' || text_[end] == '[')
        end = behind_bracket(text_, end);
      else
        ++end;
    }
    const std::string head = text_.substr(begin, end - begin);
    if (end == text_.size() || text_[end] == ';') {
      at_ = std::min(end + 1, text_.size());
      items_.push_back({begin, at_, Item::Kind::kOther, {}});
    } else if (is_frame(head)) {
      at_ = end + 1;
      items_.push_back({begin, at_, Item::Kind::kFrame, {}});
    } else {
      at_ = behind_bracket(text_, end);
      const std::string name = function_name(head);
      std::size_t next = text_.find_first_not_of(" \t\r\n", at_);
      if (name.empty()) {  // a type or an initialised variable goes on to its semicolon
        next = text_.find(';', at_);
        at_ = next == std::string::npos ? text_.size() : next + 1;
      }
      items_.push_back({begin, at_, name.empty() ? Item::Kind::kOther : Item::Kind::kFunction, name});
    }
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::vector<Item> items_{};
};

}  // namespace

std::vector<Item> items_of(const std::string& blanked) { return Items(blanked).read(); }

std::string without_comments(const std::string& source) {
  std::string text = source;
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, text.size()); ++i)
      if (text[i] != '\n') text[i] = ' ';
  };
  for (std::size_t at = 0; at < text.size();) {
    if (source.compare(at, 2, "//") == 0) {
      const std::size_t end = std::min(source.find('\n', at), source.size());
      blank(at, end);
      at = end;
    } else if (source.compare(at, 2, "/*") == 0) {
      const std::size_t end = std::min(source.find("*/", at + 2), source.size() - 2) + 2;
      blank(at, end);
      at = end;
    } else if (source[at] == '"' || (source[at] == '\'' && (at == 0 || !is_word_character(source[at - 1])))) {
      std::size_t end = at + 1;
      while (end < source.size() && source[end] != source[at] && source[end] != '\n')
        end += source[end] == '\\' ? 2U : 1U;
      const bool is_include =
          source[at] == '"' && text.rfind('#', at) != std::string::npos &&
          text.substr(text.rfind('#', at), at - text.rfind('#', at)).find('\n') == std::string::npos;
      if (!is_include) blank(at, end + 1);
      at = end + 1;
    } else {
      ++at;
    }
  }
  return text;
}

}  // namespace salient::workbench
