// core/console/progress.h - how far a long job has come: a bar on a terminal, plain lines in a file.
//
// By hand: the library for it, indicators, is no package of the distributions.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace salient {

enum class ProgressMode {
  kAuto,   ///< a bar when standard error is a terminal, else plain lines
  kPlain,  ///< a line every few seconds, none for jobs that are over sooner
  kNone,
};

void set_progress_mode(ProgressMode mode);

/// One job of `total` units. Draws at most ten times a second, on the thread that happens to call add(). All is on one
/// line of the terminal: the bar is shorter, or not there, where the words need the room.
class Progress {
 public:
  /// @param unit   what is counted, plural: "edges", "rows". "bytes" is printed as MB.
  /// @param total  0 = not known: only the count and the rate are shown.
  /// @param later  units of the jobs like this one that follow it, such as other epochs
  /// @param note   "loss 1.21", what else is to be said, asked for when it draws; empty: nothing
  Progress(std::string label, std::uint64_t total, std::string unit, std::uint64_t later = 0,
           std::function<std::string()> note = {});
  ~Progress();  ///< wipes the bar; plain mode prints a last line if it printed one before
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Threads: any number at a time. Cost: an atomic add and a clock read; call it per block, not per item.
  void add(std::uint64_t count);

 private:
  void draw(std::uint64_t done, double seconds);
  std::string words(std::uint64_t done, double seconds) const;

  const std::string label_;
  const std::uint64_t total_, later_;
  const std::string unit_;
  const std::function<std::string()> note_;
  const ProgressMode mode_;
  const std::int64_t start_ns_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::int64_t> next_draw_ns_;
  std::atomic<bool> has_drawn_{false};
};

}  // namespace salient
