// apps/options/help.h - the list of options that --help prints: in groups, as wide as the terminal, short or in full.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "apps/options/options.h"

namespace salient::options {

/// A heading of --help, for the options from `first` on, in the order of the list. A struct with many options says its
/// groups by constexpr auto option_groups(const Options&), an array of them.
struct OptionGroup {
  std::string_view name, first;
};

/// An option as --help lists it.
struct HelpLine {
  std::string name, value;  ///< the value is its default, "..." for none, "" for a flag
  std::string text;
};

/// Columns that help may take: COLUMNS, else those of the terminal up to 120, else 80.
std::size_t help_columns();

/// `text` in lines of at most `columns`, without a newline at the end. Later lines begin with `indent` spaces, and the
/// first one is taken to have so many before it.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns);

/// Prints `title` and every option, without what stands behind the first semicolon of its text where there are groups;
/// the topic "all" has it whole, a group's name or another word the options of the group or with that word.
/// @throws Error{kUsage} where nothing has the word
void print_help(std::ostream& out, std::string_view title, const std::vector<HelpLine>& lines,
                const std::vector<OptionGroup>& groups, const HelpTopic& topic, std::size_t columns);

template <class Options>
std::vector<HelpLine> help_lines(const Options& defaults) {
  std::vector<HelpLine> lines;
  visit_fields(defaults, [&]<class T>(std::string_view name, const T& value, std::string_view help) {
    const std::string text = to_text(value);
    lines.push_back({std::string(name),
                     text == "false" ? ""
                     : text.empty()  ? "..."
                                     : text,
                     described(Words<T>::list(), help)});
  });
  return lines;
}

/// As above, of the options of a program or command, with their defaults.
template <class Options>
void print_help(std::ostream& out, std::string_view title, const Options& defaults,
                const HelpTopic& topic = HelpTopic(HelpTopic::kSummary)) {
  std::vector<OptionGroup> groups;
  if constexpr (requires { option_groups(defaults); })
    for (const OptionGroup& group : option_groups(defaults)) groups.push_back(group);
  print_help(out, title, help_lines(defaults), groups, topic, help_columns());
}

}  // namespace salient::options
