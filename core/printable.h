// core/printable.h - foreign text as a line of a terminal or of a log may show it.
#pragma once

#include <string>
#include <string_view>

namespace salient {

/// `text` as one line that changes nothing beyond itself: a control character becomes \n, \t, \r or \x1b, and so does
/// each byte of what Unicode has of them (U+0080 to U+009F, separators of lines, signs that turn the direction of text)
/// and of what is no UTF-8. All else stays as it is, a backslash too: people read it, no program.
///
/// Whatever shows a name of a file, a data set, a class or a column, an id or a word of a file, calls it: the log, the
/// report of an error, the progress bar. What builds a text of several lines calls it for each of its foreign words.
std::string printable(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace salient
