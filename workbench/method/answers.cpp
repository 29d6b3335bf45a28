// workbench/method/answers.cpp - see answers.h.
#include "workbench/method/answers.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string_view>

#include "core/error.h"

namespace salient::workbench {
namespace {

using Json = nlohmann::json;
constexpr std::size_t kMaxAnswer = std::size_t{2} << 20, kMaxEdits = 64, kMaxShapes = 8, kMaxSeeds = 4, kMaxTries = 64;
constexpr int kMaxNesting = 64;

[[noreturn]] void refuse(const std::string& why) { fail(ErrorKind::kBadData, "the answer " + why); }

/// End of the JSON object that opens at `start`, by its braces outside of strings; npos if it never closes, or too
/// deep.
std::size_t end_of_object(const std::string& text, std::size_t start) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = start; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') ++depth;
    if (depth > kMaxNesting) return std::string::npos;
    if ((c == '}' || c == ']') && --depth == 0) return i + 1;
  }
  return std::string::npos;
}

/// The first JSON object in the answer that has the field `key`.
std::optional<Json> object_with(const std::string& answer, const char* key) {
  if (answer.size() > kMaxAnswer) refuse("is too long");
  std::size_t tries = 0;
  for (std::size_t at = answer.find('{'); at != std::string::npos && tries < kMaxTries;
       at = answer.find('{', at + 1), ++tries) {
    const std::size_t end = end_of_object(answer, at);
    if (end == std::string::npos) continue;
    Json json = Json::parse(answer.begin() + static_cast<std::ptrdiff_t>(at),
                            answer.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (json.is_object() && json.contains(key)) return json;
  }
  return std::nullopt;
}

/// What a model thinks before it answers is no part of the answer.
std::string without_thinking(const std::string& answer) {
  static constexpr std::string_view kEnd = "</think>";
  const std::size_t end = answer.rfind(kEnd);
  return end == std::string::npos ? answer : answer.substr(end + kEnd.size());
}

/// The fence that a line begins with, "```" or "~~~" or a longer one; "" if it begins with none.
std::string_view fence_of(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos || (line[start] != '`' && line[start] != '~')) return {};
  const std::size_t end = std::min(line.find_first_not_of(line[start], start), line.size());
  return end - start < 3 ? std::string_view{} : line.substr(start, end - start);
}

/// The last block between fences that has a launch line: what comes before it are drafts, or other files.
std::optional<std::string> block_with_launch(const std::string& answer) {
  std::optional<std::string> last;
  std::istringstream lines(answer);
  std::string block, open;  // open: the fence of the block at present
  for (std::string line; std::getline(lines, line);) {
    const std::string fence(fence_of(line));
    if (open.empty()) {
      open = fence;
      block.clear();
    } else if (fence.starts_with(open)) {
      if (block.find("launch") != std::string::npos) last = block;
      open.clear();
    } else {
      block += line + "\n";
    }
  }
  return last;
}

bool is_whole(const Json& value, std::int64_t most) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most);
  return false;  // negative, a fraction, or no number
}

std::size_t line_number(const Json& edit, const char* key) {
  if (!edit.contains(key) || !edit[key].is_number_integer() || edit[key].get<std::int64_t>() < 0 ||
      edit[key].get<std::int64_t>() > 1000000)
    refuse(std::string("has an edit without a line number '") + key + "'");
  return edit[key].get<std::size_t>();
}

void sort_and_check(std::vector<LineEdit>& edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const LineEdit& a, const LineEdit& b) { return a.from < b.from; });
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].from < 1 || edits[i].to + 1 < edits[i].from) refuse("has an edit of no lines");
    if (i > 0 && edits[i].from <= edits[i - 1].to) refuse("has edits that overlap");
    if (i > 0 && edits[i].from == edits[i - 1].from) refuse("has two edits of the same line");
  }
}

}  // namespace

std::string source_in(const std::string& whole) {
  const std::string answer = without_thinking(whole);
  if (const auto json = object_with(answer, "source")) {
    if (!(*json)["source"].is_string()) refuse("has a source that is no text");
    return (*json)["source"].get<std::string>();
  }
  if (auto block = block_with_launch(answer)) return *block;
  const std::size_t start = answer.find_first_not_of(" \t\r\n");
  const bool is_python = answer.find("\n# launch ") != std::string::npos;
  if (start != std::string::npos && answer.compare(start, is_python ? 1 : 2, is_python ? "#" : "//") == 0)
    return answer.substr(start);
  refuse("has no source: neither {\"source\": ...} nor a fenced block with a launch line");
}

std::vector<LineEdit> edits_in(const std::string& answer) {
  const auto json = object_with(without_thinking(answer), "edits");
  if (!json || !(*json)["edits"].is_array()) refuse("has no {\"edits\": [...]}");
  if ((*json)["edits"].empty() || (*json)["edits"].size() > kMaxEdits) refuse("has no edits, or more than 64");
  std::vector<LineEdit> edits;
  for (const Json& one : (*json)["edits"]) {
    if (!one.is_object() || !one.contains("lines") || !one["lines"].is_array()) refuse("has an edit without lines");
    LineEdit edit{line_number(one, "from"), line_number(one, "to"), {}};
    for (const Json& line : one["lines"]) {
      if (!line.is_string()) refuse("has a line that is no text");
      edit.lines.push_back(line.get<std::string>());
    }
    edits.push_back(std::move(edit));
  }
  sort_and_check(edits);
  return edits;
}

namespace {

Variables shape_of(const Json& one) {
  if (!one.is_object()) refuse("has a shape that is no object");
  Variables dims;
  for (const auto& [name, value] : one.items()) {
    if (!is_whole(value, std::int64_t{1} << 32)) refuse("has a shape with a number outside of 0 to 2^32");
    dims[name] = value.get<std::int64_t>();
  }
  return dims;
}

}  // namespace

MoreTests tests_in(const std::string& whole) {
  const std::string answer = without_thinking(whole);
  auto json = object_with(answer, "shapes");
  if (!json) json = object_with(answer, "seeds");
  if (!json) refuse("has neither {\"shapes\": [...]} nor {\"seeds\": [...]}");
  const Json shapes = json->value("shapes", Json::array()), seeds = json->value("seeds", Json::array());
  if (!shapes.is_array() || !seeds.is_array()) refuse("has shapes or seeds that are no list");
  if (shapes.size() > kMaxShapes) refuse("has more than 8 shapes");
  if (seeds.size() > kMaxSeeds) refuse("has more than 4 seeds");
  MoreTests more;
  for (const Json& one : shapes) more.shapes.push_back(shape_of(one));
  for (const Json& seed : seeds) {
    if (!is_whole(seed, std::int64_t{1} << 53)) refuse("has a seed outside of 0 to 2^53");
    more.seeds.push_back(seed.get<std::uint64_t>());
  }
  return more;
}

std::string apply_edits(const std::string& source, std::vector<LineEdit> edits) {
  std::vector<std::string> lines;
  std::istringstream in(source);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  sort_and_check(edits);
  std::string text;
  std::size_t next = 1;
  for (const LineEdit& edit : edits) {
    if (edit.to > lines.size() || edit.from > lines.size() + 1) refuse("edits a line beyond the end");
    for (; next < edit.from; ++next) text += lines[next - 1] + "\n";
    for (const std::string& line : edit.lines) text += line + "\n";
    next = edit.to + 1;
  }
  for (; next <= lines.size(); ++next) text += lines[next - 1] + "\n";
  return text;
}

std::string opening_comment(const std::string& source) {
  constexpr std::size_t kMost = 300;
  std::istringstream lines(source);
  std::string line, found;
  while (std::getline(lines, line) && (line.starts_with("//") || line.starts_with("# "))) {
    const std::size_t begin = line.find_first_not_of("/# \t"), end = line.find_last_not_of(" \t\r");
    if (begin == std::string::npos) break;
    const std::string text = line.substr(begin, end + 1 - begin);
    if (text.starts_with("language ")) continue;
    static constexpr const char* kDeclared[] = {"launch ", "param ", "scratch ", "array "};
    if (std::any_of(std::begin(kDeclared), std::end(kDeclared), [&](auto word) { return text.starts_with(word); }))
      break;
    found += (found.empty() ? "" : " ") + text;
  }
  return found.substr(0, kMost);
}

std::string problem_of(AnswerKind kind, const std::string& answer) {
  try {
    switch (kind) {
      case AnswerKind::kSource: (void)source_in(answer); break;
      case AnswerKind::kEdits: (void)edits_in(answer); break;
      case AnswerKind::kShapes: (void)tests_in(answer); break;
      case AnswerKind::kText: break;
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    return error.what();
  }
  return {};
}

std::string quoted(std::string source) {
  for (const char* fence : {"```", "~~~"})
    for (std::size_t at; (at = source.find(fence)) != std::string::npos;) source.insert(at + 1, " ");
  return source;
}

std::string with_line_numbers(const std::string& source) {
  std::istringstream in(source);
  std::string text;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) text += std::to_string(++number) + "| " + line + "\n";
  return text;
}

}  // namespace salient::workbench
