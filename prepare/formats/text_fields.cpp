// prepare/formats/text_fields.cpp - how text of unknown origin is quoted in a message
#include "prepare/formats/text_fields.h"

#include "prepare/formats/line_reader.h"

namespace salient {

const char* number_hint(std::string_view text) {
  const bool are_digits = !text.empty() && text.find_first_not_of("+-0123456789.,'eE") == std::string_view::npos &&
                          text.find_first_of("0123456789") != std::string_view::npos;
  if (!are_digits) return "";
  if (text[0] == '+') return "; it begins with a sign that numbers here have not";
  return "; numbers have a decimal point, and nothing between thousands";
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMaxShown = 60;
  constexpr const char* kHex = "0123456789abcdef";
  std::string shown = "'";
  for (const char c : text.substr(0, kMaxShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      shown += c;
    } else {
      shown.append("\\x").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    }
  }
  return shown.append(text.size() > kMaxShown ? "...'" : "'");
}

void fail_at_line(const std::filesystem::path& path, std::uint64_t line_number, std::string_view text,
                  const std::string& rule, Topic topic) {
  fail(ErrorKind::kBadData, line_name(path, line_number) + ": " + rule + ": " + in_quotes(text), topic);
}

}  // namespace salient
