// core/console/log.cpp - spdlog behind log.h; no other file may include spdlog, whose fmt clashes with LibTorch's.
#include "core/console/log.h"

#include <spdlog/details/file_helper.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/console/log_format.h"
#include "core/error.h"
#include "core/files/open_to_read.h"
#include "core/number_text.h"
#include "core/printable.h"

namespace salient {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kOff: return spdlog::level::off;
  }
  return spdlog::level::info;
}

/// A log file that ends with one warning when it cannot be written: a full disk costs the run its log, and no more.
class LogFile final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// @throws spdlog::spdlog_ex
  explicit LogFile(const std::string& path) { file_.open(path); }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    unless_ended([&] { file_.write(line); });
  }
  void flush_() override {
    unless_ended([&] { file_.flush(); });
  }

  template <class Action>
  void unless_ended(Action action) {
    if (has_ended_) return;
    try {
      action();
    } catch (const spdlog::spdlog_ex& error) {
      has_ended_ = true;
      (void)std::fprintf(stderr, "warning: %s; the log ends here\n", printable(error.what()).c_str());
    }
  }

  spdlog::details::file_helper file_;
  bool has_ended_ = false;
};

const char* name_of_level(LogLevel level) {
  return level == LogLevel::kWarning ? "warning" : level == LogLevel::kDebug ? "debug" : "info";
}

std::string as_line(LogLevel level, std::string_view text) {
  return (level == LogLevel::kWarning ? "warning: " : "") + printable(text);
}

struct Sinks {
  std::shared_ptr<spdlog::sinks::stderr_color_sink_mt> terminal =
      std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  std::shared_ptr<spdlog::sinks::sink> file{};
  spdlog::logger logger{"salient", terminal};
  bool is_json = false;
  Sinks() {
    terminal->set_pattern("%^%v%$");
    logger.set_level(spdlog::level::debug);
    terminal->set_level(spdlog::level::info);
    logger.flush_on(spdlog::level::info);
  }
};

Sinks& sinks() {
  static Sinks instance;
  return instance;
}

/// "2026-11-28T15:04:05.123Z"
std::string time_text() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::time_t seconds = milliseconds / 1000;
  std::tm parts{};
  (void)::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  (void)std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  return printed("%s.%03dZ", text.data(), static_cast<int>(milliseconds % 1000));
}

/// To the terminal as an object with `fields`, to the log file as text.
void log_as_json(LogLevel level, std::string_view text, std::string_view fields) {
  nlohmann::ordered_json object = {
      {"time", time_text()}, {"level", name_of_level(level)}, {"message", printable(text)}};
  if (!fields.empty()) object.update(nlohmann::ordered_json::parse(fields));
  const std::string line = object.dump();
  const auto put = [&](spdlog::sinks::sink& sink, std::string_view what) {
    const auto its_level = to_spdlog(level);
    if (!sink.should_log(its_level)) return;
    sink.log(spdlog::details::log_msg("salient", its_level, spdlog::string_view_t(what.data(), what.size())));
    sink.flush();
  };
  put(*sinks().terminal, line);
  if (sinks().file) put(*sinks().file, as_line(level, text));
}

void log_with_fields(LogLevel level, std::string_view text, std::string_view fields) {
  if (sinks().is_json) return log_as_json(level, text, fields);
  const std::string line = as_line(level, text);
  sinks().logger.log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace

void set_log_level(LogLevel level) { sinks().terminal->set_level(to_spdlog(level)); }

void set_log_format(LogFormat format) {
  sinks().is_json = format == LogFormat::kJson;
  sinks().terminal->set_pattern(sinks().is_json ? "%v" : "%Y-%m-%d %H:%M:%S.%e %^%v%$");
}

void log_to_file(const std::string& path) {
  refuse_pipe(path);
  try {
    auto file = std::make_shared<LogFile>(path);
    file->set_pattern("%Y-%m-%d %H:%M:%S.%e %v");
    file->set_level(spdlog::level::info);
    sinks().file = file;
    sinks().logger.sinks().push_back(std::move(file));
  } catch (const spdlog::spdlog_ex& error) {
    fail(ErrorKind::kIo, error.what());
  }
}

void log_line(LogLevel level, std::string_view text) { log_with_fields(level, text, ""); }

void log_event(std::string_view text, std::string_view fields) { log_with_fields(LogLevel::kInfo, text, fields); }

void log_result(std::string_view text) {
  const std::string line = printable(text);
  (void)std::fprintf(stdout, "%s\n", line.c_str());
  (void)std::fflush(stdout);
  if (!sinks().file) return;
  sinks().file->log(spdlog::details::log_msg("salient", spdlog::level::info, line));
  sinks().file->flush();
}

void log_lines(std::string_view text, void (*log)(std::string_view)) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    log(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

}  // namespace salient
