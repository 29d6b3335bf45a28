// workbench/method/prompts.h - the texts that generators are shown: files with {{names}} to fill in.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace salient::workbench {

using Fillings = std::map<std::string, std::string, std::less<>>;

/// All NAME.txt of a folder, read once.
class Prompts {
 public:
  /// @throws Error{kNoInput}
  explicit Prompts(const std::filesystem::path& folder);

  /// What to_text() made of them.
  static Prompts from_text(const std::string& text);
  std::string to_text() const;

  bool has(const std::string& name) const { return texts_.contains(name); }
  /// The text with every {{key}} replaced; what is filled in is not searched again.
  /// @throws Error{kBadData} for a text or a key that is not there
  std::string fill(const std::string& name, const Fillings& fillings = {}) const;

 private:
  Prompts() = default;
  std::map<std::string, std::string, std::less<>> texts_;
};

}  // namespace salient::workbench
