// core/csv_text.h - text as a field of a CSV file.
#pragma once

#include <string>
#include <string_view>

namespace salient {

/// In double quotes, with two quotes for one, as RFC 4180 has it.
inline std::string csv_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted.append("\"");
}

/// csv_quoted() where it has to be. A field that is not quoted begins
/// and ends with no blank, and does not begin as a comment of an edge list or as data in braces.
inline std::string csv_field(std::string_view text) {
  const bool is_plain = text.find_first_of(",;\"\n\r\t") == std::string_view::npos && !text.starts_with(' ') &&
                        !text.ends_with(' ') && !text.starts_with('#') && !text.starts_with('%') &&
                        !text.starts_with('{');
  return is_plain ? std::string(text) : csv_quoted(text);
}

}  // namespace salient
