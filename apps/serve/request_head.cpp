// apps/serve/request_head.cpp - see request_head.h.
#include "apps/serve/request_head.h"

#include <algorithm>
#include <utility>

#include "core/lower_case.h"

namespace salient::serve {
namespace {

[[noreturn]] void refuse(int status, const char* what) { throw HttpRefusal{status, what}; }

/// In no line of a head, whatever its meaning.
bool is_forbidden(unsigned char byte) {
  return (byte < ' ' && byte != '\t' && byte != '\r' && byte != '\n') || byte == 0x7F;
}

bool is_visible(unsigned char byte) { return byte > ' ' && byte < 0x7F; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// @return whether it is 1.0   @throws HttpRefusal for what is neither 1.0 nor 1.1
bool is_version_1_0(std::string_view text) {
  if (text.size() != 8 || !text.starts_with("HTTP/") || !is_digit(text[5]) || text[6] != '.' || !is_digit(text[7]))
    refuse(400, "the first line is not: method, path, HTTP/1.1");
  if (text[5] != '1') refuse(505, "this server speaks HTTP/1.1");
  return text[7] == '0';
}

void read_request_line(std::string_view line, RequestHead& head) {
  const std::size_t first = std::min(line.find(' '), line.size());
  const std::size_t second = std::min(line.find(' ', first + 1), line.size());
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(std::min(first + 1, second), second - std::min(first + 1, second));
  if (!is_token(method) || target.empty() || !std::ranges::all_of(target, is_visible) || second == line.size())
    refuse(400, "the first line is not: method, path, HTTP/1.1");
  head.is_1_0 = is_version_1_0(line.substr(second + 1));
  head.method = method;
  head.target = target;
}

HeaderField read_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    refuse(400, "a header that is no name: value");
  return {lower(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1)))};
}

}  // namespace

bool is_token(std::string_view text) {
  constexpr std::string_view kLettersAndMarks =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~";
  return !text.empty() && text.find_first_not_of(kLettersAndMarks) == std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);  // npos + 1 is 0: of an empty one
}

std::vector<std::string_view> RequestHead::values(std::string_view name) const {
  std::vector<std::string_view> found;
  for (const HeaderField& field : fields)
    if (field.name == name) found.push_back(field.value);
  return found;
}

bool HeadReader::take(std::string_view& bytes) {
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    const std::string_view part = bytes.substr(0, end);
    bytes.remove_prefix(end);
    num_bytes_ += part.size();
    if (num_bytes_ > kMaxHead)
      head_.method.empty() ? refuse(414, "the first line is too long") : refuse(431, "the headers are too long");
    if (std::ranges::any_of(part, is_forbidden)) refuse(400, "a control character, such as NUL, in the headers");
    line_ += part;
    if (line_.back() == '\n' && take_line()) return true;
  }
  return false;
}

/// @return whether it was the last
bool HeadReader::take_line() {
  const std::string line = std::exchange(line_, {});
  const std::size_t size = line.size() - 1;  // without \n
  if (size == 0 || line[size - 1] != '\r') refuse(400, "a line that does not end with CR and LF");
  const std::string_view text(line.data(), size - 1);
  if (text.find('\r') != std::string_view::npos) refuse(400, "a header that is no name: value");
  if (text.empty()) return !head_.method.empty();
  head_.method.empty() ? read_request_line(text, head_) : head_.fields.push_back(read_field(text));
  return false;
}

RequestHead HeadReader::release() {
  num_bytes_ = 0;
  return std::exchange(head_, {});
}

}  // namespace salient::serve
