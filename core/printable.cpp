// core/printable.cpp - see printable.h.
#include "core/printable.h"

#include <cstddef>
#include <cstdint>

namespace salient {
namespace {

struct Character {
  std::size_t bytes = 1;
  bool is_utf8 = false;
  bool is_shown = false;  ///< false: a control character, or no UTF-8
};

bool is_control(std::uint32_t code) {
  const auto lies_in = [code](std::uint32_t first, std::uint32_t last) { return code >= first && code <= last; };
  return code < 0x20 || lies_in(0x7F, 0x9F) || lies_in(0x2028, 0x202E) || lies_in(0x2066, 0x2069);
}

/// The first character of a text that is not empty.
Character first_of(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {1, true, !is_control(lead)};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes > text.size()) return {};
  std::uint32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const std::uint32_t least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
  if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {bytes, true, !is_control(code)};
}

void append_escaped(std::string& line, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (c) {
    case '\n': line.append("\\n"); return;
    case '\r': line.append("\\r"); return;
    case '\t': line.append("\\t"); return;
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  line.append("\\x").append(1, kDigits[byte / 16U]).append(1, kDigits[byte % 16U]);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_of(text);
    const std::string_view bytes = text.substr(0, next.bytes);
    if (next.is_shown)
      line.append(bytes);
    else
      for (const char c : bytes) append_escaped(line, c);
    text.remove_prefix(next.bytes);
  }
  return line;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Character next = first_of(text);
    if (!next.is_utf8) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

}  // namespace salient
