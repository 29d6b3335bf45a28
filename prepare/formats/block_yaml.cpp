// prepare/formats/block_yaml.cpp - see block_yaml.h.
#include "prepare/formats/block_yaml.h"

#include <algorithm>

#include "core/error.h"
#include "prepare/formats/text_fields.h"

namespace salient {
namespace {

constexpr int kMaxDepth = 16;

/// What is on a line, less its indentation and its comment.
struct Line {
  std::size_t number = 0, indent = 0;
  std::string_view text{};
};

bool is_item(std::string_view text) { return text == "-" || text.starts_with("- "); }

/// Where a comment begins, outside of quotes.
std::size_t end_of_content(std::string_view text) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote != 0)
      quote = text[i] == quote ? 0 : quote;
    else if (text[i] == '"' || text[i] == '\'')
      quote = text[i];
    else if (text[i] == '#' && (i == 0 || text[i - 1] == ' '))
      return i;
  }
  return text.size();
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& path) : path_(path) {
    std::size_t number = 0;
    while (!text.empty()) {
      std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      ++number;
      line = line.substr(0, end_of_content(line));
      line = line.substr(0, line.find_last_not_of(" \t\r") + 1);  // none: npos + 1 = 0
      const std::size_t indent = line.find_first_not_of(' ');
      if (indent == std::string_view::npos || line.starts_with('%')) continue;
      if (line == "---" && lines_.empty()) continue;
      if (line == "---" || line == "...") break;
      if (line[indent] == '\t') refuse(number, "a tab indents");
      lines_.push_back({number, indent, line.substr(indent)});
    }
  }

  YamlNode parse() {
    if (lines_.empty()) fail(ErrorKind::kBadData, path_ + ": says nothing");
    YamlNode root = block(lines_[0].indent, 0);
    if (at_ < lines_.size()) refuse(lines_[at_].number, "is indented like no line above");
    return root;
  }

 private:
  [[noreturn]] void refuse(std::size_t line, const std::string& rule) const {
    fail(ErrorKind::kBadData, path_ + ": line " + std::to_string(line) + ": " + rule);
  }

  /// Lines of one indentation, and what is deeper.
  YamlNode block(std::size_t indent, int depth) {
    if (depth > kMaxDepth) refuse(lines_[at_].number, "blocks too deep in others");
    YamlNode node{.line = lines_[at_].number};
    const bool is_list = is_item(lines_[at_].text);
    while (at_ < lines_.size() && lines_[at_].indent == indent && is_item(lines_[at_].text) == is_list) {
      if (is_list)
        node.items.push_back(item(indent, depth));
      else
        add_field(node, indent, depth);
    }
    return node;
  }

  YamlNode item(std::size_t indent, int depth) {
    Line& line = lines_[at_];
    const std::size_t content = line.text.find_first_not_of(' ', 1);
    if (content == std::string_view::npos) {
      const std::size_t number = line.number;
      ++at_;
      return inner(indent, number, depth);
    }
    line.indent += content;  // "- key: value" is a block that begins behind the dash
    line.text.remove_prefix(content);
    if (!is_item(line.text) && end_of_key(line.text) == std::string_view::npos) {
      YamlNode scalar = scalar_of(line.text, line.number);
      ++at_;
      return scalar;
    }
    return block(line.indent, depth + 1);
  }

  void add_field(YamlNode& node, std::size_t indent, int depth) {
    const Line line = lines_[at_];
    const std::size_t end = end_of_key(line.text);
    if (end == std::string_view::npos) refuse(line.number, "KEY: VALUE or - ITEM is expected");
    const std::string key = scalar_of(line.text.substr(0, end), line.number).scalar;
    if (node.find(key) != nullptr) refuse(line.number, in_quotes(key) + " is there twice");
    std::string_view value = line.text.substr(end + 1);
    value.remove_prefix(std::min(value.size(), value.find_first_not_of(' ')));
    ++at_;
    node.fields.emplace_back(key, value.empty() ? inner(indent, line.number, depth) : scalar_of(value, line.number));
  }

  /// The block under a key or a dash of this indentation: deeper, or of a key a list beside it; else nothing.
  YamlNode inner(std::size_t indent, std::size_t number, int depth) {
    if (at_ >= lines_.size()) return {.line = number};
    const Line& next = lines_[at_];
    const bool is_inner = next.indent > indent || (next.indent == indent && is_item(next.text) && is_key(number));
    return is_inner ? block(next.indent, depth + 1) : YamlNode{.line = number};
  }

  /// Whether the line before was a key, not a dash.
  bool is_key(std::size_t number) const { return lines_[at_ - 1].number == number && lines_[at_ - 1].text != "-"; }

  /// Of the ':' behind a key; npos where there is none.
  static std::size_t end_of_key(std::string_view text) {
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (quote != 0)
        quote = text[i] == quote ? 0 : quote;
      else if (i == 0 && (text[i] == '"' || text[i] == '\''))
        quote = text[i];
      else if (text[i] == ':' && (i + 1 == text.size() || text[i + 1] == ' '))
        return i;
    }
    return std::string_view::npos;
  }

  YamlNode scalar_of(std::string_view text, std::size_t line) const {
    if (text.empty()) refuse(line, "a key without a name");
    const char first = text.front();
    if (first == '"' || first == '\'') {
      const bool is_whole = text.size() >= 2 && text.back() == first &&
                            text.substr(1, text.size() - 2).find(first) == std::string_view::npos;
      if (!is_whole || text.find('\\') != std::string_view::npos)
        refuse(line, "text in quotes with more than characters");
      return {.line = line, .scalar = std::string(text.substr(1, text.size() - 2))};
    }
    if (text == "[]" || text == "{}") return {.line = line};
    if (std::string_view("[{&*!|>@`?").find(first) != std::string_view::npos)
      refuse(line, "a value of the form " + in_quotes(text) + " is not read");
    if (text == "null" || text == "~" || text == "Null" || text == "NULL") return {.line = line};
    return {.line = line, .scalar = std::string(text)};
  }

  const std::string& path_;
  std::vector<Line> lines_{};
  std::size_t at_ = 0;
};

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found = std::ranges::find(fields, key, [](const auto& field) { return std::string_view(field.first); });
  return found == fields.end() ? nullptr : &found->second;
}

YamlNode parse_block_yaml(std::string_view text, const std::string& path) { return Parser(text, path).parse(); }

}  // namespace salient
