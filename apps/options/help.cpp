// apps/options/help.cpp - see help.h.
#include "apps/options/help.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "apps/options/other_names.h"
#include "core/lower_case.h"

namespace salient::options {
namespace {

constexpr std::size_t kUsualColumns = 80, kMostColumns = 120, kLeastColumns = 40;
constexpr std::size_t kIndent = 28;  // of what is said of an option

struct Group {
  std::string_view name;
  std::vector<const HelpLine*> lines;
};

std::vector<Group> grouped(const std::vector<HelpLine>& lines, const std::vector<OptionGroup>& groups) {
  std::vector<Group> found(1);
  for (const HelpLine& line : lines) {
    for (const OptionGroup& group : groups)
      if (group.first == line.name) found.push_back({group.name, {}});
    found.back().lines.push_back(&line);
  }
  std::erase_if(found, [](const Group& group) { return group.lines.empty(); });
  return found;
}

bool has_word(const HelpLine& line, const std::string& word) {
  return lower("--" + line.name + " " + line.text).find(word) != std::string::npos;
}

/// Leaves what the word asks for: a group of that name, else the options that have it.
void choose(std::vector<Group>& groups, const std::string& said) {
  const std::string word = lower(said);
  if (std::ranges::any_of(groups, [&](const Group& group) { return group.name == word; })) {
    std::erase_if(groups, [&](const Group& group) { return group.name != word; });
    return;
  }
  for (Group& group : groups) std::erase_if(group.lines, [&](const HelpLine* line) { return !has_word(*line, word); });
  std::erase_if(groups, [](const Group& group) { return group.lines.empty(); });
}

std::string names_of_groups(const std::vector<OptionGroup>& groups) {
  std::string names;
  for (const OptionGroup& group : groups) names.append(names.empty() ? "" : ", ").append(group.name);
  return names;
}

void print_line(std::ostream& out, const HelpLine& line, bool is_short, std::size_t columns) {
  std::string text = "  --" + line.name + (line.value.empty() ? "" : " " + line.value);
  std::string_view said = line.text;
  if (is_short) said = said.substr(0, said.find(';'));
  if (!said.empty() && text.size() + 2 > kIndent) {
    const bool fits = text.size() + 2 + said.size() <= columns;
    text += fits ? "  " : "\n" + std::string(kIndent, ' ');
  } else if (!said.empty()) {
    text.resize(kIndent, ' ');
  }
  out << text << wrapped(said, kIndent, columns) << '\n';
}

/// Each of its lines as it is, or wrapped below its own first word.
void print_title(std::ostream& out, std::string_view title, std::size_t columns) {
  while (!title.empty()) {
    const std::size_t length = std::min(title.find('\n'), title.size());
    const std::string_view line = title.substr(0, length);
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    out << line.substr(0, indent)
        << (line.size() <= columns ? std::string(line.substr(indent)) : wrapped(line.substr(indent), indent, columns))
        << '\n';
    title.remove_prefix(std::min(length + 1, title.size()));
  }
}

}  // namespace

std::size_t help_columns() {
  const char* const said = std::getenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe): nothing writes the environment
  std::size_t columns = 0;
  if (said != nullptr && from_text(said, columns) && columns >= kLeastColumns) return columns;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < kLeastColumns) return kUsualColumns;
  return std::min<std::size_t>(size.ws_col, kMostColumns);
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string lines;
  std::size_t at = indent;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    if (!lines.empty() && at + 1 + word.size() > columns) {
      lines.append("\n").append(indent, ' ');
      at = indent;
    } else if (!lines.empty()) {
      lines += ' ';
      ++at;
    }
    lines.append(word);
    at += word.size();
  }
  return lines;
}

void print_help(std::ostream& out, std::string_view title, const std::vector<HelpLine>& lines,
                const std::vector<OptionGroup>& groups, const HelpTopic& topic, std::size_t columns) {
  const bool is_summary = topic.text == HelpTopic::kSummary, is_whole = is_summary || topic.text == HelpTopic::kAll;
  std::vector<Group> shown = grouped(lines, groups);
  if (!is_whole) choose(shown, topic.text);
  if (shown.empty())
    fail(ErrorKind::kUsage, "--help=" + topic.text + ": no option has this word" +
                                (groups.empty() ? "" : "; groups are " + names_of_groups(groups)));
  if (is_whole) print_title(out, title, columns);
  for (const Group& group : shown) {
    if (!group.name.empty()) out << (is_whole ? "\n" : "") << group.name << ":\n";
    for (const HelpLine* line : group.lines) print_line(out, *line, is_summary && !groups.empty(), columns);
  }
  if (is_summary && !groups.empty())
    out << '\n'
        << wrapped("--help=all has the options in full, --help=GROUP those of " + names_of_groups(groups) +
                       ", --help=WORD those with a word.",
                   0, columns)
        << '\n';
}

}  // namespace salient::options
