// core/files/flat_toml.h - reads `key = value` files: TOML without sections, tables, dates and multi-line strings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace salient {

struct TomlItem {
  int line = 0;       ///< of the key, from 1
  std::string key{};  ///< as written: letters, digits, - and _
  /// A string without its quotes and escapes, a number or a word as written, an array with commas between its values.
  std::string value{};
};

/// @param text  the whole file   @param path  what messages call it
/// @throws Error{kUsage} "PATH: line N: ..." for whatever is not in that language, and for a key that comes twice.
std::vector<TomlItem> parse_flat_toml(std::string_view text, const std::string& path);

/// `text` as a basic string that parse_flat_toml() reads back. @throws Error{kUsage} for control characters without an escape.
std::string toml_string(std::string_view text);

}  // namespace salient
