// apps/options/options.cpp - see options.h.
#include "apps/options/options.h"

#include <cstdint>

#include "core/files/file_io.h"
#include "core/files/flat_toml.h"

namespace salient::options {

std::vector<Assignment> from_toml_file(const std::string& path) {
  constexpr std::uint64_t kMaxBytes = 1 << 20;
  return from_toml_text(read_text_file(path, kMaxBytes), path);
}

std::vector<Assignment> from_toml_text(const std::string& text, const std::string& path) {
  std::vector<Assignment> found;
  for (const TomlItem& item : parse_flat_toml(text, path)) {
    std::string name = item.key;
    std::replace(name.begin(), name.end(), '_', '-');
    found.push_back({name, item.value, path + ": line " + std::to_string(item.line) + ": " + item.key});
  }
  return found;
}

std::string variable_of(std::string_view field) {
  std::string variable(kVariablePrefix);
  for (const char c : field) variable += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return variable;
}

std::optional<std::string> data_folder(const std::function<const char*(const char*)>& look_up) {
  const char* const folder = look_up(kDataVariable);
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return folder;
}

void replace_alias(std::vector<Assignment>& said, std::string_view name, const Alias& alias) {
  std::optional<Assignment> flag, field;
  for (const Assignment& assignment : said) {
    if (assignment.name == name) flag = assignment;
    if (assignment.name == alias.field) field = assignment;
  }
  if (!flag) return;
  bool is_on = false;
  const bool is_open = flag->text == kAutoWord && alias.is == kAutoWord;
  if (!is_open && !from_text(flag->text, is_on))
    fail(ErrorKind::kUsage, flag->said_by + " cannot be '" + flag->text + "'");
  if (is_on && field && field->text != alias.value && field->text != alias.otherwise)
    fail(ErrorKind::kUsage, flag->said_by + " stands for " + std::string(alias.field) + " " + std::string(alias.value) +
                                ", and " + field->said_by + " says " + field->text);
  std::erase_if(said, [&](const Assignment& a) { return a.name == name || (is_on && a.name == alias.field); });
  const bool is_off = !is_on && !is_open && !field && (alias.is == alias.value || alias.is == kAutoWord);
  if (is_on || is_off)
    said.push_back({std::string(alias.field), std::string(is_on ? alias.value : alias.otherwise), flag->said_by});
}

std::string either(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text.append(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ").append(words[i]);
  return text;
}

std::string described(const std::vector<std::string>& words, std::string_view help) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : " | ").append(word);
  if (!text.empty() && !help.empty()) text += ": ";
  return text.append(help);
}

std::string detail::toml_value(const std::string& value) { return toml_string(value); }

}  // namespace salient::options
