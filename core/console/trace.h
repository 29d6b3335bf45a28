// core/console/trace.h - what each thread and GPU stream did when, for chrome://tracing and Perfetto.
//
// By hand: Perfetto's SDK is 100,000 lines and no package of the distributions; this file format takes four functions.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>

#include "core/host/descriptor.h"

namespace salient {

/// Rows of a trace. Workers are kFirstWorker, kFirstWorker + 1, ...
namespace trace_row {
inline constexpr int kMain = 0;
inline constexpr int kFirstWorker = 1;
inline constexpr int kComputeStream = 1000;
inline constexpr int kCopyStream = 1001;
}  // namespace trace_row

/// Collects intervals and writes them as Chrome trace events (FORMATS.md section 6). Off until open(), and then asking
/// is_on() is all it costs.
///
/// The file is valid JSON at every moment, an abort or SIGKILL included: each write puts new events and the closing
/// brackets over the old brackets in one system call, at least once a second while events come in.
/// Threads: any.
class Trace {
 public:
  using Clock = std::chrono::steady_clock;

  /// The process' own trace. There may be others, in tests.
  static Trace& global();

  Trace() = default;
  ~Trace() { close(); }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Starts collecting into a new file. Times in it are microseconds since 1970, so that the files of all ranks,
  /// loaded together, share one clock as far as their hosts do.
  /// @param rank  the process id in the trace.
  /// @throws Error{kIo}.
  void open(const std::filesystem::path& path, int rank);

  bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }

  /// Names a row; once is enough. Ignored while off.
  void name_row(int row, std::string_view name);

  /// One interval. Ignored while off. A disk that is full ends the trace with a warning, not the run.
  /// @param batch  shown with the event; below 0 = none.
  void add(std::string_view name, std::string_view category, int row, Clock::time_point begin, Clock::time_point end,
           std::int64_t batch = -1);

  /// Writes what is left and stops collecting.
  void close();

 private:
  void append(const std::string& event);
  void flush();
  std::string micros(std::chrono::nanoseconds time) const;

  std::atomic<bool> is_on_ = false;
  std::mutex mutex_;  // guards everything below
  Descriptor file_;
  int rank_ = 0;
  std::chrono::nanoseconds unix_minus_steady_{};
  std::int64_t end_of_events_ = 0;  // file offset of the closing brackets
  std::string pending_;
  Clock::time_point last_flush_{};
};

/// From its construction to its end: one interval of the global trace.
class TraceSpan {
 public:
  TraceSpan(const char* name, const char* category, int row, std::int64_t batch = -1)
      : name_(name), category_(category), row_(row), batch_(batch), is_on_(Trace::global().is_on()) {
    if (is_on_) begin_ = Trace::Clock::now();
  }
  ~TraceSpan() {
    if (is_on_) Trace::global().add(name_, category_, row_, begin_, Trace::Clock::now(), batch_);
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  const char* name_;
  const char* category_;
  int row_;
  std::int64_t batch_;
  bool is_on_;
  Trace::Clock::time_point begin_{};
};

}  // namespace salient
