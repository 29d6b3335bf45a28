// engine/core/options.cpp - the TOML side of options.h, read by CLI11.
#include "engine/core/options.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

namespace salient::options {

std::vector<Assignment> from_toml_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail(ErrorKind::kNoInput, path + ": " + std::generic_category().message(errno));
  return from_toml_text({std::istreambuf_iterator<char>(file), {}}, path);
}

std::vector<Assignment> from_toml_text(const std::string& text, const std::string& path) {
  std::istringstream lines(text);
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(lines);
  } catch (const CLI::Error& error) {
    fail(ErrorKind::kUsage, path + ": " + error.what());
  }
  std::vector<Assignment> found;
  for (const CLI::ConfigItem& item : items) {
    if (item.name == "++" || item.name == "--") continue;  // CLI11's marks for the start and end of a section
    if (!item.parents.empty())
      fail(ErrorKind::kUsage, path + ": [" + item.parents.front() + "]: sections are not used");
    std::string name = item.name;
    std::replace(name.begin(), name.end(), '_', '-');
    found.push_back({name, to_text(item.inputs), path + ": " + item.name});
  }
  return found;
}

std::string detail::toml_quoted(const std::string& text) {  // a literal string where a basic one would need escapes
  const bool needs_literal = text.find_first_of("\"\\") != std::string::npos;
  if (needs_literal && text.find('\'') != std::string::npos)
    fail(ErrorKind::kUsage, "a configuration cannot hold both kinds of quotes: " + text);
  const char quote = needs_literal ? '\'' : '"';
  return quote + text + quote;
}

}  // namespace salient::options
