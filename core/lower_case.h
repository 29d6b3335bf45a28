// core/lower_case.h - text whose letters' case does not matter.
#pragma once

#include <string>
#include <string_view>

namespace salient {

/// The same text in lower case, ASCII letters alone, whatever the locale.
inline std::string lower(std::string_view text) {
  std::string found(text);
  for (char& c : found) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return found;
}

}  // namespace salient
