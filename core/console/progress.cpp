// core/console/progress.cpp - see progress.h.
#include "core/console/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include "core/printable.h"

namespace salient {
namespace {

constexpr std::int64_t kBarEveryNs = 100'000'000;
constexpr std::int64_t kLineEveryNs = 5'000'000'000;
constexpr std::size_t kBarWidth = 24, kLeastBarWidth = 6, kUsualColumns = 80;

std::atomic<ProgressMode> chosen_mode{ProgressMode::kAuto};

ProgressMode resolved(ProgressMode mode) {
  if (mode == ProgressMode::kAuto) return isatty(STDERR_FILENO) == 1 ? ProgressMode::kAuto : ProgressMode::kPlain;
  return mode;
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// "28", "1.4 M"; with a digit behind the point for less than a hundred of a second.
std::string short_number(double count, bool is_rate = false) {
  std::array<char, 64> text{};
  const char* format = count >= 1e9                ? "%.2f G"
                       : count >= 1e6              ? "%.1f M"
                       : count >= 1e4              ? "%.1f k"
                       : (is_rate && count < 99.5) ? "%.1f"
                                                   : "%.0f";
  const double scaled = count >= 1e9 ? count / 1e9 : count >= 1e6 ? count / 1e6 : count >= 1e4 ? count / 1e3 : count;
  (void)std::snprintf(text.data(), text.size(), format, scaled);
  return text.data();
}

std::string in_words(double count, const std::string& unit, bool is_rate = false) {
  const bool is_joined = unit == "bytes" && count >= 1e4;  // "MB", and "12 B"
  return short_number(count, is_rate) + (is_joined ? "B" : unit == "bytes" ? " B" : " " + unit);
}

std::string duration(double seconds) {
  std::array<char, 32> text{};
  const auto whole = static_cast<long>(seconds);
  if (whole >= 3600)
    (void)std::snprintf(text.data(), text.size(), "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  else
    (void)std::snprintf(text.data(), text.size(), "%ld:%02ld", whole / 60, whole % 60);
  return text.data();
}

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

/// "[####    ] " in what `others` leave of a line; nothing where that is little.
std::string bar_of(double share, std::size_t others, std::size_t columns) {
  const std::size_t room = columns > others + 4 ? columns - others - 4 : 0;  // brackets, a space, the cursor
  if (room < kLeastBarWidth) return {};
  const std::size_t width = std::min(room, kBarWidth);
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(width));
  return '[' + std::string(filled, '#') + std::string(width - filled, ' ') + "] ";
}

}  // namespace

void set_progress_mode(ProgressMode mode) { chosen_mode = mode; }

Progress::Progress(std::string label, std::uint64_t total, std::string unit, std::uint64_t later,
                   std::function<std::string()> note)
    : label_(printable(label)),
      total_(total),
      later_(later),
      unit_(std::move(unit)),
      note_(std::move(note)),
      mode_(resolved(chosen_mode)),
      start_ns_(now_ns()),
      next_draw_ns_(start_ns_ + (mode_ == ProgressMode::kAuto ? kBarEveryNs : kLineEveryNs)) {}

Progress::~Progress() {
  if (!has_drawn_) return;
  if (mode_ == ProgressMode::kAuto)
    (void)std::fputs("\r\033[K", stderr);
  else
    draw(done_, static_cast<double>(now_ns() - start_ns_) * 1e-9);
}

void Progress::add(std::uint64_t count) {
  const std::uint64_t done = done_.fetch_add(count, std::memory_order_relaxed) + count;
  if (mode_ == ProgressMode::kNone) return;
  const std::int64_t now = now_ns();
  std::int64_t due = next_draw_ns_.load(std::memory_order_relaxed);
  const std::int64_t every = mode_ == ProgressMode::kAuto ? kBarEveryNs : kLineEveryNs;
  if (now < due || !next_draw_ns_.compare_exchange_strong(due, now + every)) return;
  draw(done, static_cast<double>(now - start_ns_) * 1e-9);
}

/// "28% 20/69, 1.4 batches/s, loss 1.21, 0:35 left, run 4:10"
std::string Progress::words(std::uint64_t done, double seconds) const {
  const auto count = static_cast<double>(done), total = static_cast<double>(total_);
  const double share = total_ == 0 ? 0 : std::min(1.0, count / total), each = seconds / std::max(count, 1.0);
  std::string line = total_ == 0 ? in_words(count, unit_)
                                 : std::to_string(static_cast<int>(share * 100)) + "% " + short_number(count) + '/' +
                                       (unit_ == "bytes" ? in_words(total, unit_) : short_number(total));
  line += ", " + in_words(count / std::max(seconds, 1e-9), unit_, true) + "/s";
  const std::string note = note_ ? printable(note_()) : std::string();
  if (!note.empty()) line += ", " + note;
  if (share > 0 && share < 1) line += ", " + duration(each * (total - count)) + " left";
  if (share > 0 && later_ > 0)
    line += (share < 1 ? ", run " : ", run left ") + duration(each * (total - count + static_cast<double>(later_)));
  return line;
}

void Progress::draw(std::uint64_t done, double seconds) {
  has_drawn_ = true;
  const std::string text = words(done, seconds);
  if (mode_ != ProgressMode::kAuto) {
    (void)std::fprintf(stderr, "%s %s\n", label_.c_str(), text.c_str());
  } else {
    const std::size_t columns = terminal_columns();
    const double share = static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(total_, 1));
    std::string line = label_ + ' ';
    if (total_ > 0) line += bar_of(std::min(share, 1.0), line.size() + text.size(), columns);
    line += text;
    if (line.size() >= columns) line.resize(columns - 1);  // a line that wraps is not wiped
    (void)std::fprintf(stderr, "\r%s\033[K", line.c_str());
  }
  (void)std::fflush(stderr);
}

}  // namespace salient
