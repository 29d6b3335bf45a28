// workbench/method/prompts.cpp - see prompts.h.
#include "workbench/method/prompts.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/file_io.h"

namespace salient::workbench {

Prompts::Prompts(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) fail(ErrorKind::kNoInput, folder.string() + ": no folder of prompts");
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".txt") texts_[entry.path().stem()] = read_text_file(entry.path());
}

Prompts Prompts::from_text(const std::string& text) {
  Prompts made;
  try {
    nlohmann::json::parse(text).get_to(made.texts_);
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::kBadData, "recorded prompts that cannot be read");
  }
  return made;
}

std::string Prompts::to_text() const { return nlohmann::json(texts_).dump(1); }

std::string Prompts::fill(const std::string& name, const Fillings& fillings) const {
  const auto found = texts_.find(name);
  if (found == texts_.end()) fail(ErrorKind::kBadData, "there is no prompt " + name + ".txt");
  const std::string& text = found->second;
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find("{{", at);
    filled.append(text, at, open - at);
    if (open == std::string::npos) break;
    const std::size_t close = text.find("}}", open);
    if (close == std::string::npos) fail(ErrorKind::kBadData, name + ".txt: {{ without }}");
    const auto value = fillings.find(std::string_view(text).substr(open + 2, close - open - 2));
    if (value == fillings.end())
      fail(ErrorKind::kBadData, name + ".txt: nothing to fill in for " + text.substr(open, close + 2 - open));
    filled += value->second;
    at = close + 2;
  }
  return filled;
}

}  // namespace salient::workbench
