// apps/serve/request_head.h - the head of an HTTP/1 request: bytes -> method, target and fields, or a refusal.
//
// By hand, as decision 27 says: libraries read heads leniently, and what they mended cannot be seen afterwards.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apps/serve/http_message.h"

namespace salient::serve {

inline constexpr std::size_t kMaxHead = 32 << 10;  ///< bytes of a head; longer ones get 414 or 431

struct HeaderField {
  std::string name{};   ///< in lower case
  std::string value{};  ///< without the blanks around it
};

struct RequestHead {
  std::string method{};
  std::string target{};  ///< as it came: visible ASCII characters
  bool is_1_0 = false;   ///< HTTP/1.0, else 1.1
  std::vector<HeaderField> fields{};

  /// Of all fields called so. @param name  in lower case
  std::vector<std::string_view> values(std::string_view name) const;
};

/// Reads one head from bytes as they come, however they are cut. What may be understood in two ways is refused: lines
/// that do not end with CR LF, folded lines, control characters (NUL among them), blanks around names.
/// Empty lines before the head are skipped (RFC 9112, 2.2).
class HeadReader {
 public:
  /// Takes what belongs to the head off the front of `bytes`.
  /// @return whether the head is whole   @throws HttpRefusal as soon as a line, or a byte, is wrong
  bool take(std::string_view& bytes);

  /// Once it is whole; the next take() begins another.
  RequestHead release();

 private:
  bool take_line();

  RequestHead head_{};
  std::string line_{};
  std::size_t num_bytes_ = 0;
};

/// A token of RFC 9110: the letters and marks that names of methods and fields have.
bool is_token(std::string_view text);

/// Without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace salient::serve
