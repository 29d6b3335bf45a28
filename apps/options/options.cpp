// apps/options/options.cpp - see options.h.
#include "apps/options/options.h"

#include <cstdint>

#include "apps/options/other_names.h"
#include "core/files/file_io.h"
#include "core/files/flat_toml.h"
#include "core/lower_case.h"

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

std::string our_name(std::span<const std::string_view> fields, std::string_view name) {
  const auto has = [&](std::string_view field) { return std::ranges::find(fields, field) != fields.end(); };
  if (!has(name))
    for (const OtherName& other : other_names())
      if (other.theirs == name && other.instead.empty() && has(other.ours)) return std::string(other.ours);
  return std::string(name);
}

std::string advice_on_name(std::span<const std::string_view> fields, std::string_view name) {
  std::string_view nearest;
  std::size_t distance = name.size() / 3 + 1;  // what is further off is another word
  const auto look_at = [&](std::string_view word, std::string_view field) {
    const std::size_t away = edit_distance(name, word);
    if (away < distance) nearest = field, distance = away;
  };
  for (const std::string_view field : fields) look_at(field, field);
  for (const OtherName& other : other_names()) {
    if (std::ranges::find(fields, other.ours) == fields.end()) continue;
    if (other.theirs == name) return std::string(other.instead);
    if (other.instead.empty()) look_at(other.theirs, other.ours);
  }
  return nearest.empty() ? "see --help" : "did you mean --" + std::string(nearest) + "?";
}

std::string our_value(std::span<const std::string> words, const std::string& text) {
  if (std::ranges::find(words, text) != words.end()) return text;
  const std::string small = lower(text);
  for (const std::string& word : words)
    if (word == small || word == our_word(small)) return word;
  return text;
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
