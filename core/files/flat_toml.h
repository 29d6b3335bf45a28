// core/files/flat_toml.h - reads `key = value` files: TOML without tables and dates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace salient {

struct TomlItem {
  int line = 0;       ///< of the key, from 1
  std::string key{};  ///< as written: letters, digits, - and _
  /// A string without its quotes and escapes, true or false, a number in its shortest form (with a point or an exponent
  /// if it was no whole number), an array with commas between its values.
  std::string value{};
};

/// @param text  the whole file   @param path  what messages call it
/// @throws Error{kUsage} "PATH: line N: ..." for what is not in that language, for a key that is set twice, and for
///         lines of more than 4096 bytes.
std::vector<TomlItem> parse_flat_toml(std::string_view text, const std::string& path);

/// `text` as a basic string that parse_flat_toml() reads back. @throws Error{kUsage} for text that TOML cannot hold:
/// bytes that are not UTF-8.
std::string toml_string(std::string_view text);

}  // namespace salient
