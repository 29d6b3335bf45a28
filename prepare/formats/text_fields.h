// prepare/formats/text_fields.h - numbers in text, strictly: the whole field is the number or it is refused.
//
// By hand: std::from_chars does the work; a library for CSV would not name the line, nor read in parallel blocks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/field_values.h"

namespace salient {

/// `text` between quotes, for error messages: one line and printable whatever it holds, long ones cut.
std::string in_quotes(std::string_view text);

/// What may be wrong with a text that is no number, as the end of a message, or "": commas where a point is meant, or
/// between thousands.
const char* number_hint(std::string_view text);

/// The fields of a line, one after another: "a,b" and ",b" have two, "" has one, empty.
class FieldSplitter {
 public:
  FieldSplitter(std::string_view line, char separator) : rest_(line), separator_(separator) {}

  bool next(std::string_view& field) {
    if (done_) return false;
    const std::size_t end = rest_.find(separator_);
    done_ = end == std::string_view::npos;
    field = rest_.substr(0, end);
    if (!done_) rest_.remove_prefix(end + 1);
    return true;
  }

 private:
  std::string_view rest_;
  const char separator_;
  bool done_ = false;
};

/// @throws Error{kBadData}: "FILE: line 17: RULE: 'TEXT'", always
[[noreturn]] void fail_at_line(const std::filesystem::path& path, std::uint64_t line_number, std::string_view text,
                               const std::string& rule, Topic topic = Topic::kNone);

}  // namespace salient
