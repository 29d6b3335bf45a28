// core/console/trace.cpp - see trace.h.
#include "core/console/trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/open_to_read.h"

namespace salient {
namespace {

constexpr std::string_view kHead = "{\"traceEvents\":[";
constexpr std::string_view kTail = "\n]}\n";
constexpr std::size_t kFlushBytes = 64 << 10;
constexpr std::chrono::seconds kFlushEvery{1};

bool write_at(const Descriptor& file, std::string_view text, std::int64_t offset) {
  return pwrite(file.get(), text.data(), text.size(), offset) == static_cast<ssize_t>(text.size());
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

}  // namespace

Trace& Trace::global() {
  static Trace trace;
  return trace;
}

void Trace::open(const std::filesystem::path& path, int rank) {
  const std::lock_guard lock(mutex_);
  require(!file_, "a trace is opened once");
  refuse_pipe(path);
  file_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file_) fail_with_errno(path, "write");
  rank_ = rank;
  unix_minus_steady_ = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch() - Clock::now().time_since_epoch());
  end_of_events_ = 0;
  pending_ = std::string(kHead) + "\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" + std::to_string(rank) +
             ",\"args\":{\"name\":\"rank " + std::to_string(rank) + "\"}}";
  is_on_ = true;
  flush();
}

void Trace::name_row(int row, std::string_view name) {
  if (!is_on()) return;
  append("{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" + std::to_string(rank_) + ",\"tid\":" + std::to_string(row) +
         ",\"args\":{\"name\":" + quoted(name) + "}}");
}

void Trace::add(std::string_view name, std::string_view category, int row, Clock::time_point begin,
                Clock::time_point end, std::int64_t batch) {
  if (!is_on()) return;
  std::string event = "{\"ph\":\"X\",\"name\":" + quoted(name) + ",\"cat\":" + quoted(category) +
                      ",\"pid\":" + std::to_string(rank_) + ",\"tid\":" + std::to_string(row) +
                      ",\"ts\":" + micros(begin.time_since_epoch() + unix_minus_steady_) +
                      ",\"dur\":" + micros(end - begin);
  if (batch >= 0) event += ",\"args\":{\"batch\":" + std::to_string(batch) + "}";
  append(event + "}");
}

std::string Trace::micros(std::chrono::nanoseconds time) const {
  std::array<char, 40> text{};
  (void)std::snprintf(text.data(), text.size(), "%lld.%03d", static_cast<long long>(time.count() / 1000),
                      static_cast<int>(time.count() % 1000));
  return text.data();
}

void Trace::append(const std::string& event) {
  const std::lock_guard lock(mutex_);
  if (!file_) return;
  pending_ += ",\n" + event;
  if (pending_.size() >= kFlushBytes || Clock::now() - last_flush_ >= kFlushEvery) flush();
}

void Trace::flush() {
  last_flush_ = Clock::now();
  const std::size_t num_new = pending_.size();
  if (write_at(file_, pending_.append(kTail), end_of_events_)) {
    end_of_events_ += static_cast<std::int64_t>(num_new);
    pending_.clear();
    return;
  }
  log_warning("the trace ends here: its file cannot be written");
  if (end_of_events_ > 0) {
    (void)write_at(file_, kTail, end_of_events_);
    (void)!ftruncate(file_.get(), end_of_events_ + static_cast<std::int64_t>(kTail.size()));
  }
  is_on_ = false;
  file_ = {};
}

void Trace::close() {
  const std::lock_guard lock(mutex_);
  if (!file_) return;
  flush();
  is_on_ = false;
  file_ = {};
}

}  // namespace salient
