// core/console/log.h - what the program says while it works: one line per event, to the terminal and the run's log.txt.
#pragma once

#include <string>
#include <string_view>

namespace salient {

enum class LogLevel { kDebug, kInfo, kWarning, kOff };

/// Lines below `level` do not reach the terminal. Results always do.
void set_log_level(LogLevel level);

/// From now on every line, whatever its level above kDebug, also goes to `path`, until that cannot be written, which
/// is a warning. @throws Error{kIo} if it cannot be opened.
void log_to_file(const std::string& path);

/// One line on standard error, and in the log file, as printable() writes it. Threads: any.
void log_line(LogLevel level, std::string_view text);

/// A result that scripts read: one such line on standard output, and in the log file.
void log_result(std::string_view text);

/// Each line of a text of our own, such as a table, by `log`: log_info, log_result.
void log_lines(std::string_view text, void (*log)(std::string_view));

inline void log_debug(std::string_view text) { log_line(LogLevel::kDebug, text); }
inline void log_info(std::string_view text) { log_line(LogLevel::kInfo, text); }
inline void log_warning(std::string_view text) { log_line(LogLevel::kWarning, text); }

}  // namespace salient
