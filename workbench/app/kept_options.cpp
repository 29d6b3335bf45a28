// workbench/app/kept_options.cpp - see kept_options.h.
#include "workbench/app/kept_options.h"

#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include "core/files/replace_text_file.h"

namespace salient::workbench {
namespace {

constexpr const char* kName = "options.toml";

bool is_of_one_call(std::string_view field) {
  return field == "out" || field.starts_with("budget-") || field == "again" || field == "help";
}

/// name -> value, as text.
std::map<std::string, std::string> texts_of(const KernelOptions& options) {
  std::map<std::string, std::string> texts;
  visit_fields(options, [&](std::string_view field, const auto& value, std::string_view) {
    texts[std::string(field)] = options::to_text(value);
  });
  return texts;
}

}  // namespace

void keep_options(const std::filesystem::path& run, const KernelOptions& options) {
  if (std::filesystem::exists(run / "ledger.jsonl")) return;
  std::ostringstream text;
  options::print_toml(text, options);
  std::filesystem::create_directories(run);
  replace_text_file(run / kName, text.str());
}

void drop_options_without_run(const std::filesystem::path& run) {
  if (std::filesystem::exists(run / "ledger.jsonl")) return;
  std::error_code ignored;
  std::filesystem::remove(run / kName, ignored);
  std::filesystem::remove(run, ignored);  // if it is empty
}

KernelOptions with_kept_options(const KernelOptions& options, const std::filesystem::path& run) {
  const std::filesystem::path file = run / kName;
  if (!std::filesystem::exists(file)) return options;
  KernelOptions merged;
  for (const options::Assignment& kept : options::from_toml_file(file))
    if (!is_of_one_call(kept.name)) options::apply(merged, kept);
  const std::map<std::string, std::string> defaults = texts_of(KernelOptions{});
  for (const auto& [name, text] : texts_of(options))
    if (text != defaults.at(name)) options::apply(merged, options::Assignment{name, text, "--" + name});
  return merged;
}

}  // namespace salient::workbench
