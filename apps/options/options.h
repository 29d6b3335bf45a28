// apps/options/options.h - text <-> options struct. One list of fields, visit_fields(), serves command line and config
// file, environment, --help and run config, so they cannot disagree. By hand: CLI11, cxxopts have no such list.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/value_text.h"

namespace salient::options {

using salient::from_text;
using salient::to_text;

/// The words that a field of type T knows; none for a type without a list.
template <class T>
struct Words {
  static std::vector<std::string> list() { return {}; }
};
template <NamedEnum E>
struct Words<E> {
  static std::vector<std::string> list() {
    std::vector<std::string> words;
    for (const EnumName<E>& row : names_of(E{})) words.emplace_back(row.name);
    return words;
  }
};
template <NamedEnum E>
struct Words<std::optional<E>> {
  static std::vector<std::string> list() {
    std::vector<std::string> words = Words<E>::list();
    words.emplace(words.begin(), kAutoWord);
    return words;
  }
};
template <>
struct Words<std::optional<bool>> {
  static std::vector<std::string> list() { return {std::string(kAutoWord), "true", "false"}; }
};

/// A flag that is another spelling of `field = value`; switched off it is `field = otherwise`, unless the field has a
/// third value. It is listed beside the field, and has no memory of its own.
struct Alias {
  std::string_view field, value, otherwise;
  std::string is{};  ///< what the field has
};
inline std::string to_text(const Alias& alias) { return to_text(alias.is == alias.value); }
inline bool from_text(std::string_view, Alias&) { return false; }  // apply() of a source has replaced it

/// "a, b or c"
std::string either(const std::vector<std::string>& words);

/// What a list of options says of a field: its words, then `help`.
std::string described(const std::vector<std::string>& words, std::string_view help);

/// What --help asks for; empty: it was not given.
struct HelpTopic {
  static constexpr std::string_view kSummary = "true", kAll = "all";
  std::string text{};

  HelpTopic() = default;
  explicit HelpTopic(std::string_view topic) : text(topic) {}
  explicit operator bool() const { return !text.empty(); }
};
inline std::string to_text(const HelpTopic& topic) { return topic ? topic.text : "false"; }
inline bool from_text(std::string_view text, HelpTopic& topic) {
  topic.text = text == "false" ? "" : text;
  return !text.empty();
}

/// Whether an option of type T may stand without a value.
template <class T>
constexpr bool kIsFlag = std::is_same_v<T, bool> || std::is_same_v<T, std::optional<bool>> ||
                         std::is_same_v<T, Alias> || std::is_same_v<T, HelpTopic>;

/// Levenshtein distance, for "did you mean".
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// `name = text`, and who said so: "--lr", "SALIENT_LR", "run.toml: lr". Sources are merged by applying their
/// assignments one after the other, the weakest first.
struct Assignment {
  std::string name;
  std::string text;
  std::string said_by;
};

/// The names of the fields, in the order of the list.
template <class Options>
std::vector<std::string_view> field_names(Options& options) {
  std::vector<std::string_view> names;
  visit_fields(options, [&](std::string_view field, auto&, std::string_view) { names.push_back(field); });
  return names;
}

/// `name`, or the one of `fields` that others call so.
std::string our_name(std::span<const std::string_view> fields, std::string_view name);

/// What a message says of a name that is none of `fields`: the nearest one where it is near, or what to do.
std::string advice_on_name(std::span<const std::string_view> fields, std::string_view name);

/// `text`, or the one of `words` that it means: in other letters, or as others call it.
std::string our_value(std::span<const std::string> words, const std::string& text);

/// @throws Error{kUsage} for an unknown name, with the nearest known one, or a bad value.
template <class Options>
void apply(Options& options, const Assignment& assignment) {
  bool known = false, valid = false;
  std::vector<std::string> words;
  const std::vector<std::string_view> fields = field_names(options);
  const std::string name = our_name(fields, assignment.name);
  visit_fields(options, [&]<class T>(std::string_view field, T& value, std::string_view) {
    if (name != field) return;
    known = true;
    words = Words<T>::list();
    valid = from_text(our_value(words, assignment.text), value);
  });
  if (!known)
    fail(ErrorKind::kUsage, assignment.said_by + " is not an option; " + advice_on_name(fields, assignment.name));
  if (!valid && !words.empty())
    fail(ErrorKind::kUsage, assignment.said_by + ": " + either(words) + ", not '" + assignment.text + "'");
  if (!valid) fail(ErrorKind::kUsage, assignment.said_by + " cannot be '" + assignment.text + "'");
}

/// Puts the field that an alias stands for in the place of what a source says by the alias.
/// @throws Error{kUsage} where the source gives the field another value, too
void replace_alias(std::vector<Assignment>& said, std::string_view name, const Alias& alias);

/// Applies what one source says. @throws as above, and as replace_alias()
template <class Options>
void apply(Options& options, std::span<const Assignment> assignments) {
  std::vector<Assignment> said(assignments.begin(), assignments.end());
  visit_fields(options, [&]<class T>(std::string_view name, const T& value, std::string_view) {
    if constexpr (std::is_same_v<T, Alias>) replace_alias(said, name, value);
  });
  for (const Assignment& assignment : said) apply(options, assignment);
}

/// Reads `--name value`, `--name=value` and, for a flag, `--name` for true; underscores count as dashes, and names of
/// others (other_names.h) for ours. `-h`, and `help` as the first word, are --help.
/// @throws Error{kUsage} for what is not an option, an option without a value, or an unknown name.
template <class Options>
std::vector<Assignment> from_command_line(std::span<const char* const> args) {
  Options options;
  const std::vector<std::string_view> fields = field_names(options);
  std::vector<Assignment> found;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view said = args[i], arg = said == "-h" || (i == 0 && said == "help") ? "--help" : said;
    if (!arg.starts_with("--"))
      fail(ErrorKind::kUsage, "expected --option, found '" + std::string(arg) + "'; did you mean --" +
                                  std::string(fields[0]) + " " + std::string(arg) + "?");
    const std::size_t equals = std::min(arg.find('='), arg.size());
    std::string theirs(arg.substr(2, equals - 2));
    std::replace(theirs.begin(), theirs.end(), '_', '-');
    const std::string name = our_name(fields, theirs), said_by = "--" + theirs;
    bool known = false, is_flag = false;
    visit_fields(options, [&]<class T>(std::string_view field, T&, std::string_view) {
      known |= field == name;
      is_flag |= field == name && kIsFlag<T>;
    });
    if (!known) fail(ErrorKind::kUsage, "unknown option --" + theirs + "; " + advice_on_name(fields, theirs));
    if (equals < arg.size()) {
      found.push_back({name, std::string(arg.substr(equals + 1)), said_by});
    } else if (is_flag && (i + 1 == args.size() || std::string_view(args[i + 1]).starts_with("-"))) {
      found.push_back({name, "true", said_by});
    } else {
      if (i + 1 == args.size()) fail(ErrorKind::kUsage, said_by + " needs a value");
      found.push_back({name, args[++i], said_by});
    }
  }
  return found;
}

inline constexpr std::string_view kVariablePrefix = "SALIENT_";

/// "SALIENT_BATCH_SIZE" of "batch-size".
std::string variable_of(std::string_view field);

/// One assignment per field whose variable is set.
/// @param look_up  getenv in a program: null when a variable is not set.
template <class Options>
std::vector<Assignment> from_environment(const std::function<const char*(const char*)>& look_up) {
  Options fields;
  std::vector<Assignment> found;
  visit_fields(fields, [&](std::string_view field, auto&, std::string_view) {
    const std::string variable = variable_of(field);
    if (const char* text = look_up(variable.c_str())) found.push_back({std::string(field), text, variable});
  });
  return found;
}

inline constexpr const char* kDataVariable = "SALIENT_DATA";

/// The folder of data sets that kDataVariable names; none where it is unset or empty.
std::optional<std::string> data_folder(const std::function<const char*(const char*)>& look_up);

/// `name = value` lines of a flat TOML file; underscores count as dashes.
/// @throws Error{kNoInput}, Error{kIo}; Error{kUsage} naming file and line.
std::vector<Assignment> from_toml_file(const std::string& path);

/// The same for what stood in `path`, which is only named in messages.
std::vector<Assignment> from_toml_text(const std::string& text, const std::string& path);

/// Applies the command line alone: for programs without a config file.
template <class Options>
void parse(std::span<const char* const> args, Options& options) {
  apply(options, std::span<const Assignment>(from_command_line<Options>(args)));
}

namespace detail {
std::string toml_value(const std::string& value);
inline std::string toml_value(bool value) { return to_text(value); }
inline std::string toml_value(const Alias& alias) { return to_text(alias); }
std::string toml_value(NamedEnum auto value) { return toml_value(to_text(value)); }
/// Of a type that is text to options.
template <class T>
requires std::is_class_v<T> && requires(const T& value) { to_text(value); }
std::string toml_value(const T& value) { return toml_value(to_text(value)); }
template <class T>
std::string toml_value(const std::optional<T>& value) {
  return value ? toml_value(*value) : toml_value(std::string(kAutoWord));
}
std::string toml_value(Number auto value) {
  const std::string text = to_text(value);
  const bool is_whole = text.find_first_of(".en") == std::string::npos;
  return std::is_floating_point_v<decltype(value)> && is_whole ? text + ".0" : text;
}
template <class T>
std::string toml_value(const std::vector<T>& value) {
  std::string text;
  for (const T& item : value) text.append(text.empty() ? "" : ", ").append(toml_value(item));
  return "[" + text + "]";
}
}  // namespace detail

/// One `name = value  # help` line per field, TOML that from_toml_file() reads back to the same values.
template <class Options>
void print_toml(std::ostream& out, const Options& options) {
  visit_fields(options, [&]<class T>(std::string_view name, const T& value, std::string_view help) {
    std::string line = std::string(name) + " = " + detail::toml_value(value);
    line.resize(std::max(line.size(), std::size_t{36}), ' ');
    out << line << "  # " << described(Words<T>::list(), help) << '\n';
  });
}

}  // namespace salient::options

namespace salient {

/// @param rule  names the option and what is allowed   @throws Error{kUsage} with it, unless it holds
inline void require_option(bool holds, const std::string& rule) {
  if (!holds) fail(ErrorKind::kUsage, rule);
}

}  // namespace salient
