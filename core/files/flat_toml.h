// core/files/flat_toml.h - reads `key = value` files: TOML without dates, and without tables or with few of them.
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

/// A section, or a value in braces. Of the file itself without key and line.
struct TomlTable {
  int line = 0;  ///< of the key
  std::string key{};
  std::vector<TomlItem> items{};    ///< keys with values, in the order of their lines
  std::vector<TomlTable> tables{};  ///< keys with tables, likewise
};

/// The same with sections and, in them, values in braces; keys may be any text. @throws as parse_flat_toml()
TomlTable parse_toml_tables(std::string_view text, const std::string& path);

/// `text` as a basic string that parse_flat_toml() reads back. @throws Error{kUsage} for text that TOML cannot hold:
/// bytes that are not UTF-8.
std::string toml_string(std::string_view text);

}  // namespace salient
